package pain

import (
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// A stop without a day: testNow is 2026-03-02.
func TestStopWithoutADayKeepsWhenItWasRecorded(t *testing.T) {
	const supply, open = `"name":"morphine 15 mg tablet","quantity":60,"days_supply":30`, `"name":"morphine","dose":15,"dose_unit":"mg","doses_per_day":2`
	medication := func(t *testing.T, at, value string) Record {
		t.Helper()
		var fields fault.Fields
		rec := NewRecord(parse(t, `{"data_type":"medications","recorded_at":"`+at+`","value":{`+value+`}}`), &fields, testIntake)
		if err := fields.Err(); err != nil {
			t.Fatal(noted(t, err))
		}
		return rec
	}
	stopRecorded := func(t *testing.T, rec Record) string {
		t.Helper()
		m, err := ReadMedication(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		if m.Derived.StopRecordedOn == (Date{}) {
			return ""
		}
		return m.Derived.StopRecordedOn.String()
	}
	for _, c := range []struct{ name, at, value, want string }{
		{"a supply, written later", "2026-02-20", supply + `,"status":"stopped"`, "2026-03-02"},
		{"on hold", "2026-02-20", supply + `,"status":"on-hold"`, "2026-03-02"},
		{"completed: the supply was handed out", "2026-02-20", supply + `,"status":"completed"`, ""},
		{"still taken", "2026-02-20", supply, ""},
		{"on its own day", "2026-03-02", supply + `,"status":"stopped"`, ""},
		{"with an end", "2026-02-20", supply + `,"status":"stopped","end_date":"2026-02-25"`, ""},
		{"without a supply", "2026-02-20", open + `,"status":"stopped"`, ""},
	} {
		if got := stopRecorded(t, medication(t, c.at, c.value)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	correct := func(t *testing.T, old Record, value string, now time.Time) Record {
		t.Helper()
		in := testIntake
		in.Now = now
		c, err := NewCorrection(old, parse(t, `{"value":{`+value+`}}`), in)
		if err != nil {
			t.Fatal(noted(t, err))
		}
		return c.New
	}
	next := testNow.AddDate(0, 0, 1)
	for _, value := range []string{supply, open} {
		stopped := correct(t, medication(t, "2026-02-20", value), value+`,"status":"stopped"`, testNow)
		if got := stopRecorded(t, stopped); got != "2026-03-02" {
			t.Errorf("%s, corrected: %q", value, got)
		}
		again, differs, err := Rederived(stopped.Value, DateOf(stopped.RecordedAt), nil)
		if differs || err != nil || again != stopped.Value {
			t.Errorf("%s, derived again: %v, %v", value, again, err)
		}
		if got := stopRecorded(t, correct(t, stopped, value+`,"status":"stopped","stop_reason":"sedation"`, next)); got != "2026-03-02" {
			t.Errorf("%s, corrected again: %q", value, got)
		}
		if got := stopRecorded(t, correct(t, stopped, value, next)); got != "" {
			t.Errorf("%s, not stopped after all: %q", value, got)
		}
		if !strings.Contains(string(AppendRecord(nil, &stopped)), `"stop_recorded_on":"2026-03-02"`) {
			t.Errorf("%s: the answer does not have the day", value)
		}
	}
	known := correct(t, medication(t, "2026-02-20", open+`,"status":"stopped"`), open+`,"status":"stopped","stop_reason":"sedation"`, next)
	if got := stopRecorded(t, known); got != "" {
		t.Errorf("stopped before, nobody knows when: %q", got)
	}
}
