package fhir

import "testing"

func TestKeptText(t *testing.T) {
	t.Parallel()
	k, err := ParseKept("")
	if err != nil || k.Text() != "" {
		t.Fatalf("nothing: %v, %q", err, k.Text())
	}
	k = k.With("Patient/", []byte(`{"address":1}`)).With(KeptKey("Observation", "01abc-bp"), []byte(`{"device":2}`))
	const want = `{"Observation/bp":{"device":2},"Patient/":{"address":1}}`
	if k.Text() != want {
		t.Errorf("got %s", k.Text())
	}
	again, err := ParseKept(k.Text())
	if err != nil || again.Text() != want {
		t.Errorf("again: %s, %v", again.Text(), err)
	}
	if left := again.With("Patient/", nil).With("Observation/bp", nil); left.Text() != "" {
		t.Errorf("removed: %s", left.Text())
	}
	if _, err := ParseKept("{"); err == nil {
		t.Error("damaged text was accepted")
	}
}
