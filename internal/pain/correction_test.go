package pain

import (
	"errors"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

var oldRecord = Record{ID: id.New[id.RecordKind](testNow.Add(-time.Hour)), PatientID: testID, Type: TypePainScores,
	RecordedAt: time.Date(2024, 5, 1, 8, 30, 0, 0, time.UTC), Value: StoredValue(`{"scale":"nrs","score":3}`),
	Notes: "old", Source: "patient", Author: "Dr A", EncounterID: "E1", Status: Final, CreatedAt: time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC)}

func TestCorrectionReplaces(t *testing.T) {
	value := StoredValue(`{"scale":"nrs","score":8,"aspect":"current","recall":"now","derived":{"normalized":8,"severity":"severe","scheme":"default"}}`)
	for _, c := range []struct {
		body   string
		change func(r *Record)
	}{
		{`{"value":8}`, func(*Record) {}},
		{`{"value":8,"notes":"new","recorded_at":"2024-04-30"}`, func(r *Record) {
			r.Notes, r.RecordedAt = "new", time.Date(2024, 4, 30, 0, 0, 0, 0, time.UTC)
		}},
		{`{"value":8,"notes":null,"reason":"typing error"}`, func(r *Record) { r.Notes = "" }},
	} {
		for _, status := range []Status{Final, Amended} {
			old := oldRecord
			old.Status = status
			got, err := NewCorrection(old, parse(t, c.body), testIntake)
			if err != nil {
				t.Fatal(noted(t, err))
			}
			want := old
			want.ID, want.Corrects, want.Status, want.Value = testRecordID, old.ID, Amended, value
			want.CreatedAt = time.Date(2026, 3, 2, 0, 30, 15, 0, time.UTC)
			want.made = got.New.made // a pointer
			c.change(&want)
			if !got.Replaced || got.New != want {
				t.Errorf("%s gives\n%+v, want\n%+v", c.body, got.New, want)
			}
			if old.Status = Superseded; got.Old != old {
				t.Errorf("the old record becomes %+v", got.Old)
			}
		}
	}
	got, _ := NewCorrection(oldRecord, parse(t, `{"value":8,"reason":"typing error"}`), testIntake)
	if got.Reason != "typing error" || !strings.Contains(string(AppendRecord(nil, &got.New)), `"corrects":"`+oldRecord.ID.String()+`"`) {
		t.Errorf("got %+v", got)
	}
}

func TestCorrectionRetracts(t *testing.T) {
	got, err := NewCorrection(oldRecord, parse(t, `{"entered_in_error":true,"reason":"wrong patient"}`), testIntake)
	old := oldRecord
	old.Status = EnteredInError
	if err != nil || got != (Correction{Old: old, Reason: "wrong patient"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCorrectionRules(t *testing.T) {
	const leftOut = " must be omitted for a record entered in error."
	for _, c := range []struct{ body, fault string }{
		{`{}`, `value null value is required.`},
		{`{"value":11}`, `value 11 value must be a whole number from 0 to 10 on the scale nrs.`},
		{`{"value":{"hours":8}}`, `value.score null value.score is required.; value.hours 8 Unknown field.`},
		{`{"value":7,"recorded_at":"2027-01-01"}`, `recorded_at "2027-01-01" recorded_at must not be in the future (a time, or YYYY-MM-DD in UTC).`},
		{`{"value":7,"notes":7}`, `notes 7 notes must be a string.`},
		{`{"value":7,"data_type":"mood"}`, `data_type "mood" data_type cannot be changed; mark the record as entered in error and add a new one.`},
		{`{"value":7,"author":"x"}`, `author "x" Unknown field.`},
		{`{"entered_in_error":true}`, `reason null reason is required.`},
		{`{"entered_in_error":true,"reason":"a\nb"}`, `reason "a\nb" reason must not contain control characters or line breaks.`},
		{`{"entered_in_error":true,"reason":"x","value":7,"notes":""}`, `value 7 value` + leftOut + `; notes "" notes` + leftOut},
		{`{"entered_in_error":false,"reason":"x"}`, `entered_in_error false entered_in_error must be true or omitted.; reason "x" Unknown field.`},
		{`{"entered_in_error":"yes"}`, `entered_in_error "yes" entered_in_error must be true or false.`},
		{`{"entered_in_eror":true}`, `value null value is required.; entered_in_eror true Unknown field. Did you mean "entered_in_error"?`},
	} {
		_, err := NewCorrection(oldRecord, parse(t, c.body), testIntake)
		if got := strings.Join(noted(t, err), "; "); got != c.fault {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, c.fault)
		}
	}
}

// A record that is no longer active cannot be corrected; errors in the body
// are reported first.
func TestCorrectionConflicts(t *testing.T) {
	for _, status := range []Status{Superseded, EnteredInError} {
		old := oldRecord
		old.Status = status
		for _, body := range []string{`{"value":7}`, `{"entered_in_error":true,"reason":"x"}`} {
			_, err := NewCorrection(old, parse(t, body), testIntake)
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != fault.Conflict || e.Details["status"] != string(status) {
				t.Errorf("%s: %v", status, err)
			}
		}
		if _, err := NewCorrection(old, parse(t, `{"value":11}`), testIntake); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", status, err)
		}
	}
}
