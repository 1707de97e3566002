package id

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	p := New[PatientKind](time.Now())
	back, err := Parse[PatientKind](p.String())
	if err != nil || back != p {
		t.Fatalf("Parse(%s) = %v, %v", p, back, err)
	}
	raw, err := FromBytes[PatientKind](p.Bytes())
	if err != nil || raw != p {
		t.Fatalf("FromBytes: %v, %v", raw, err)
	}
	if s := p.String(); !strings.HasPrefix(s, "pat_") || len(s) != 30 || s != strings.ToLower(s) {
		t.Fatalf("printed form %q", s)
	}
}

func TestParseRefuses(t *testing.T) {
	good := New[PatientKind](time.Now()).String()
	for _, s := range []string{"", "pat_", good[:29], good + "0", "cli_" + good[4:], strings.ToUpper(good),
		"pat_" + strings.ToUpper(good[4:]), "pat_8zzzzzzzzzzzzzzzzzzzzzzzzz", "pat_" + strings.Repeat("u", 26), "pat_" + strings.Repeat("é", 13)} {
		if _, err := Parse[PatientKind](s); err == nil {
			t.Errorf("Parse(%q) was accepted", s)
		}
	}
}

// TestPrintsAsULID compares our formatting with the library's.
func TestPrintsAsULID(t *testing.T) {
	for range 1000 {
		p := New[PatientKind](time.Now().Add(time.Duration(rand.Int64N(1 << 60))))
		if want := "pat_" + strings.ToLower(p.ulid.String()); p.String() != want {
			t.Fatalf("printed %s, want %s", p, want)
		}
	}
}

func TestSortsByCreation(t *testing.T) {
	at := time.Now()
	var made []string
	for i := range 1000 {
		made = append(made, New[EventKind](at).String())
		New[EventKind](at.Add(time.Duration(i-500) * time.Millisecond)) // of a request that began at another time
	}
	if !slices.IsSorted(made) {
		t.Fatal("identifiers of one millisecond do not sort in the order in which they were made")
	}
}
