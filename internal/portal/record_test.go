package portal

import (
	"reflect"
	"testing"
)

func TestFactsAreReadable(t *testing.T) {
	got := facts(`{"name":"oxycodone","dose":10.50,"prn":false,"breakthrough":{"peak":8,"trigger":"incident"},"quality":["burning","dull"],"mme":null,"text":"a_b","score":2.6666666666666665}`)
	want := []fact{
		{"name", "oxycodone"}, {"dose", "10.50"}, {"prn", "no"}, {"breakthrough peak", "8"}, {"breakthrough trigger", "incident"},
		{"quality", "burning, dull"}, {"mme", "unknown"}, {"text", "a_b"}, {"score", "2.67"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, broken := range []string{"", "{", `{"a":`, "[]", "7"} {
		_ = facts(broken) // must end
	}
}
