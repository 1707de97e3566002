package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOneFaultHasExactlyTwoDetails(t *testing.T) {
	var f Fields
	f.Add("limit", "0", "limit must be at least 1.")
	e, ok := errors.AsType[*Error](f.Err())
	if !ok || e.Code != InvalidParameter || len(e.Details) != 2 || e.Details["parameter"] != "limit" || e.Details["value"] != "0" {
		t.Fatalf("got %+v", e)
	}
}

func TestSeveralFaultsAreAllNamed(t *testing.T) {
	var f Fields
	if f.Err() != nil || !f.OK() {
		t.Fatal("nothing noted, and yet an error")
	}
	f.Add("name", nil, "name is missing.")
	f.Add("date_of_birth", "x", "date_of_birth must be YYYY-MM-DD.")
	e, _ := errors.AsType[*Error](f.Err())
	if e.Message != "name is missing." || e.Details["parameter"] != "name" || e.Details["value"] != nil {
		t.Fatalf("the first fault does not stand first: %+v", e)
	}
	if all, ok := e.Details["errors"].([]Field); !ok || len(all) != 2 || all[1].Parameter != "date_of_birth" {
		t.Fatalf("errors = %v", e.Details["errors"])
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var f Fields
	for i := range 10_000 {
		f.Add(fmt.Sprintf("records[%d]", i), "x", "wrong.")
	}
	e, _ := errors.AsType[*Error](f.Err())
	if all := e.Details["errors"].([]Field); len(all) != maxFields {
		t.Fatalf("%d faults are listed, want at most %d", len(all), maxFields)
	}
}

func TestCodeOf(t *testing.T) {
	wrapped := fmt.Errorf("while reading: %w", Missing("patient", "pat_x"))
	for _, c := range []struct {
		err  error
		want Code
	}{{nil, ""}, {errors.New("plain"), Internal}, {wrapped, NotFound}, {Away("later", nil), Unavailable}} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestErrorTextHasNoDetails(t *testing.T) {
	e := Parameter("name", "Maria Gonzalez", "name is too long.")
	if text := e.Error(); strings.Contains(text, "Maria") {
		t.Fatalf("the log would show a patient's name: %q", text)
	}
}
