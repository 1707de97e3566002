package portal

import (
	"reflect"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestDetailsAreReadable(t *testing.T) {
	for _, test := range []struct {
		details string
		want    []fact
	}{
		{`{"analytics":"portal","parameters":{"start_date":"2025-01-16","gender":null,"min_cell_size":5}}`,
			[]fact{{"analytics", "portal"}, {"parameters start date", "2025-01-16"}, {"parameters min cell size", "5"}}},
		{`{"changes":[{"field":"date_of_birth","before":"1980-01-01","after":"1980-01-02"},{"field":"contact.phone","before":"","after":"+1"}]}`,
			[]fact{{"date of birth", "1980-01-01 → 1980-01-02"}, {"contact.phone", "nothing → +1"}}},
		{`{"changes":["name","gender"]}`, []fact{{"changes", "name, gender"}}}, // of a redacted line
		{`{"count":2,"patients":["pat_1","pat_2"],"everywhere":false}`, []fact{{"count", "2"}, {"patients", "pat_1, pat_2"}, {"everywhere", "no"}}},
		{`{"count":0,"patients":[]}`, []fact{{"count", "0"}}},
		{`{}`, nil}, {``, nil}, {`null`, nil}, {`{"changes":`, nil},
	} {
		if got := told(test.details); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", test.details, got, test.want)
		}
	}
}

func TestReportShowsItsParameters(t *testing.T) {
	h := newHouse(t, storetest.Database(t, storetest.SQLite))
	b := h.signedIn("anna@example.org", "general", access.Administrator)
	p := b.get(b.post("/portal/reports", "type", "outcomes", "format", "pdf", "start_date", "2025-02-03", "end_date", "2025-06-05").location)
	if !strings.Contains(p.text, "<dt>start date</dt> <dd><bdi>2025-02-03</bdi></dd>") || strings.Contains(p.text, "{&#34;") {
		t.Errorf("the parameters are not shown as names and values:\n%s", p.text)
	}
}
