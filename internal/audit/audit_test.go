package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
)

func TestEntryIsJSON(t *testing.T) {
	e := Entry{At: time.Unix(1700000000, 5e8), Action: PatientRead, Actor: "cli_x", Resource: "pat_y", RequestID: "a\"\\\x01b", Source: "::1", Details: json.RawMessage(`{"count":2}`)}
	var got map[string]any
	if err := json.Unmarshal(e.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"timestamp": "2023-11-14T22:13:20Z", "action": "patient.read", "client_id": "cli_x", "resource": "pat_y", "request_id": "a\"\\\x01b", "source": "::1"}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %v, want %v", name, got[name], value)
		}
	}
	if got["details"].(map[string]any)["count"] != 2.0 {
		t.Errorf("details = %v", got["details"])
	}
	if strings.Contains(string((&Entry{Action: AuditRead}).Append(nil)), "resource") {
		t.Error("an empty member is written")
	}
}

func TestRedact(t *testing.T) {
	e := Entry{Action: PatientUpdate, Resource: "pat_y", Details: Changes([]Change{{"name", "Old Name", "New Name"}, {"gender", "", "female"}})}
	got, err := Redact(e.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got); strings.Contains(s, "Old Name") || strings.Contains(s, "New Name") || !strings.Contains(s, `"fields":["name","gender"]`) || !strings.Contains(s, "pat_y") {
		t.Errorf("redacted line %s", s)
	}
	plain := (&Entry{Action: PatientRead, Details: json.RawMessage(`{"count":1}`)}).Append(nil)
	if got, err := Redact(plain); err != nil || string(got) != string(plain) {
		t.Errorf("a line without values was changed: %s, %v", got, err)
	}
}

func TestRedactReason(t *testing.T) {
	line := func(details string) []byte {
		return (&Entry{Action: ClinicalCorrect, Resource: "pat_y", Details: json.RawMessage(details)}).Append(nil)
	}
	got, err := RedactReason(line(`{"record":"rec_x","status":"entered-in-error","reason":"meant Old Name"}`))
	if err != nil || string(got) != `{"action":"clinical_data.correct","details":{"record":"rec_x","redacted":true,"status":"entered-in-error"},"resource":"pat_y","timestamp":"0001-01-01T00:00:00Z"}` {
		t.Errorf("redacted line %s, %v", got, err)
	}
	for _, details := range []string{`{"count":1}`, `{"record":"rec_x","status":"superseded"}`, `{"patients":["\"reason\":"]}`} {
		if got, err := RedactReason(line(details)); err != nil || string(got) != string(line(details)) {
			t.Errorf("a line without a reason was changed: %s, %v", got, err)
		}
	}
}

func TestSealTellsChanges(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	seal := func(key []byte, entries ...[2]string) Head {
		s := NewSealer(key, Head{})
		for i, e := range entries {
			s.Add(int64(i+1), []byte(e[0]), []byte(e[1]))
		}
		return s.Head()
	}
	whole := seal(key, [2]string{"a", "b"}, [2]string{"c", "d"})
	for name, other := range map[string]Head{
		"a changed field":        seal(key, [2]string{"a", "b"}, [2]string{"c", "x"}),
		"a moved border":         seal(key, [2]string{"ab", ""}, [2]string{"c", "d"}),
		"a missing entry":        seal(key, [2]string{"c", "d"}),
		"a cut tail":             seal(key, [2]string{"a", "b"}),
		"entries in wrong order": seal(key, [2]string{"c", "d"}, [2]string{"a", "b"}),
		"another key":            seal([]byte("x"), [2]string{"a", "b"}, [2]string{"c", "d"}),
	} {
		if other == whole {
			t.Errorf("the seal does not tell %s", name)
		}
	}
	s := NewSealer(key, seal(key, [2]string{"a", "b"}))
	s.Add(2, []byte("c"), []byte("d"))
	if s.Head() != whole {
		t.Error("going on from a head gives another seal than one run")
	}
	s.Add(3, []byte("e"))
	s.Reset(whole)
	if s.Head() != whole {
		t.Error("going back to a head gives another")
	}
}

func TestKeyCheckHidesTheKey(t *testing.T) {
	a, b := KeyCheck([]byte("one")), KeyCheck([]byte("two"))
	if string(a) == string(b) || strings.Contains(string(a), "one") {
		t.Error("the check value does not tell keys apart, or tells the key")
	}
}

// A signed document opens as what it was, with its key and as its kind only.
func TestSignedDocuments(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	w := Witness{AcceptedAt: 7, Logs: []Witnessed{{Org: id.New[id.OrgKind](time.Now()), No: 3, Name: "Åsa \"1\"\n", Pos: 12, Head: Head{1, 2}, Broken: "why"}}}
	signed := w.Sign(key)
	if got, err := OpenWitness(key, signed); err != nil || got.AcceptedAt != 7 || len(got.Logs) != 1 || got.Logs[0] != w.Logs[0] {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range signed {
		changed := bytes.Clone(signed)
		changed[i] ^= 1
		if got, err := OpenWitness(key, changed); err == nil && i < len(signed)-1 {
			t.Errorf("byte %d changed: %+v", i, got)
		}
		if _, err := OpenWitness(key, signed[:i]); err == nil && i < len(signed)-1 {
			t.Errorf("cut to %d bytes, and it opens", i)
		}
	}
	if _, err := OpenWitness([]byte("another"), signed); !errors.Is(err, ErrForged) {
		t.Errorf("with another key: %v", err)
	}
	if _, err := OpenAcceptance(key, signed); !errors.Is(err, ErrForged) {
		t.Errorf("as an acceptance: %v", err)
	}
}
