package pain

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

// addOne adds a pain score of 7 with other fields.
func addOne(t testing.TB, members string) (Record, error) {
	t.Helper()
	body := `{"data_type":"pain_scores","value":7` + members + `}`
	records, batch, err := NewRecords(parse(t, body), testIntake)
	if batch || (err == nil) != (len(records) == 1) {
		t.Fatalf("%s: %d records, batch %v, %v", body, len(records), batch, err)
	}
	if err != nil {
		return Record{}, err
	}
	return records[0], nil
}

func TestNewRecord(t *testing.T) {
	got, err := addOne(t, `,"recorded_at":"2024-05-01T10:30:00.1239+02:00","notes":"a\nb","source":"patient","author":"Dr A","encounter_id":"E1"`)
	value := StoredValue(`{"scale":"nrs","score":7,"aspect":"current","recall":"now","derived":{"normalized":7,"severity":"severe","scheme":"default"}}`)
	want := Record{ID: testRecordID, PatientID: testID, Type: TypePainScores, RecordedAt: time.Date(2024, 5, 1, 8, 30, 0, 123e6, time.UTC),
		Value: value, Notes: "a\nb", Source: "patient", Author: "Dr A", EncounterID: "E1", Status: Final, CreatedAt: time.Date(2026, 3, 2, 0, 30, 15, 0, time.UTC)}
	want.made = got.made // a pointer
	if err != nil || got != want {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
	printed := `x{"id":"` + testRecordID.String() + `","patient_id":"` + testID.String() + `","data_type":"pain_scores","recorded_at":"2024-05-01T08:30:00.123Z","value":` + value.JSON() +
		`,"notes":"a\nb","source":"patient","author":"Dr A","encounter_id":"E1","status":"final","corrects":"","created_at":"2026-03-02T00:30:15Z"}`
	if got := string(AppendRecord([]byte("x"), &got)); got != printed {
		t.Fatalf("got  %s\nwant %s", got, printed)
	}
}

func TestRecordedAt(t *testing.T) {
	const form = ` recorded_at must be a time such as 2026-01-15T10:30:00Z, or a real date in the form YYYY-MM-DD.`
	for _, c := range []struct{ sent, want string }{
		{`null`, `2026-03-02T00:30:15.987Z`},
		{`""`, `2026-03-02T00:30:15.987Z`},
		{`"2026-03-01T23:30:15.987Z"`, `2026-03-01T23:30:15.987Z`},
		{`"2026-03-02T00:35:15Z"`, `2026-03-02T00:35:15Z`},
		{`"2026-03-02T00:35:15.98Z"`, `2026-03-02T00:35:15.980Z`},
		{`"2026-03-02T00:35:16Z"`, `recorded_at "2026-03-02T00:35:16Z" recorded_at must not be in the future (a time, or YYYY-MM-DD in UTC).`},
		{`"2026-03-02"`, `2026-03-02T00:00:00Z`},
		{`"2026-03-03"`, `recorded_at "2026-03-03" recorded_at must not be in the future (a time, or YYYY-MM-DD in UTC).`},
		{`"9999-12-31T23:59:59-14:00"`, `recorded_at "9999-12-31T23:59:59-14:00" recorded_at must not be in the future (a time, or YYYY-MM-DD in UTC).`},
		{`"1961-03-14"`, `1961-03-14T00:00:00Z`},
		{`"1961-03-14T01:00:00+13:00"`, `1961-03-13T12:00:00Z`},
		{`"1961-03-13T23:59:59Z"`, `recorded_at "1961-03-13T23:59:59Z" recorded_at must not be before the date of birth (YYYY-MM-DD).`},
		{`"0000-01-01T00:00:00Z"`, `recorded_at "0000-01-01T00:00:00Z" recorded_at must not be before the date of birth (YYYY-MM-DD).`},
		{`"2024-02-29T12:00:00Z"`, `2024-02-29T12:00:00Z`},
		{`"2023-02-29"`, `recorded_at "2023-02-29"` + form},
		{`"2023-02-29T12:00:00Z"`, `recorded_at "2023-02-29T12:00:00Z"` + form},
		{`"2024-05-01T10:30:00"`, `recorded_at "2024-05-01T10:30:00"` + form},
		{`"2024-05-01 10:30:00Z"`, `recorded_at "2024-05-01 10:30:00Z"` + form},
		{`"2024-05-01T10:30:00,5Z"`, `recorded_at "2024-05-01T10:30:00,5Z"` + form},
		{`"2024-05-01T24:00:00Z"`, `recorded_at "2024-05-01T24:00:00Z"` + form},
		{`"2024-05-01T1:30:00Z"`, `recorded_at "2024-05-01T1:30:00Z"` + form},
		{`"2024-05-01T10:30:00+25:00"`, `recorded_at "2024-05-01T10:30:00+25:00"` + form},
		{`"2024-05-01T10:30:00.Z"`, `recorded_at "2024-05-01T10:30:00.Z"` + form},
		{`"yesterday"`, `recorded_at "yesterday"` + form},
		{`1714559400`, `recorded_at 1714559400` + form},
	} {
		record, err := addOne(t, `,"recorded_at":`+c.sent)
		got := strings.Join(noted(t, err), "; ")
		if err == nil {
			got = strings.Trim(string(appendMoment(nil, record.RecordedAt)), `"`)
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.sent, got, c.want)
		}
	}
	in := testIntake
	in.Birth = Date{}
	body := `{"data_type":"pain_scores","value":7,"recorded_at":"1899-12-31"}`
	if _, _, err := NewRecords(parse(t, body), in); len(noted(t, err)) != 1 {
		t.Errorf("without a date of birth: %v", err)
	}
}

func TestEnvelope(t *testing.T) {
	const names = "pain_scores, medications, assessments, procedures, functional_status, sleep, mood, activity, adverse_events, vitals, labs, notes."
	rep := strings.Repeat
	for _, c := range []struct{ body, fault string }{
		{`{"data_type":"mood","value":{"score":1},"notes":null,"source":"","author":"","encounter_id":null}`, ""},
		{`{}`, `data_type null data_type is required.; value null value is required.`},
		{`{"data_type":"pain_score","value":{"x":1}}`, `data_type "pain_score" data_type must be one of ` + names + ` Did you mean "pain_scores"?`},
		{`{"data_type":7,"value":7}`, `data_type 7 data_type must be a string.`},
		{`{"data_type":"mood","value":{"score":1},"source":"nurse"}`, `source "nurse" source must be one of patient, clinician, device, import.`},
		{`{"data_type":"mood","value":{"score":1},"notes":"` + rep("é", 20_000) + `"}`, ""},
		{`{"data_type":"mood","value":{"score":1},"notes":"` + rep("x", 20_001) + `"}`, `notes "` + rep("x", 200) + `…" notes must have at most 20000 characters.`},
		{`{"data_type":"mood","value":{"score":1},"author":"` + rep("é", 200) + `","encounter_id":"` + rep("é", 200) + `"}`, ""},
		{`{"data_type":"mood","value":{"score":1},"author":"` + rep("x", 201) + `"}`, `author "` + rep("x", 200) + `…" author must have at most 200 characters.`},
		{`{"data_type":"mood","value":{"score":1},"encounter_id":7}`, `encounter_id 7 encounter_id must be a string.`},
		{`{"data_type":"mood","value":{"score":1},"id":"rec_x","status":"final"}`, `id "rec_x" id is read-only: the service sets it.; status "final" status is read-only: the service sets it.`},
		{`{"data_type":"mood","value":{"score":1},"patient_id":1,"corrects":1,"created_at":1}`,
			`patient_id 1 patient_id is read-only: the service sets it.; corrects 1 corrects is read-only: the service sets it.; created_at 1 created_at is read-only: the service sets it.`},
		{`{"data_type":"mood","value":{"score":1},"recordedAt":"2024-01-01"}`, `recordedAt "2024-01-01" Unknown field. Did you mean "recorded_at"?`},
		{`{"data_type":"mood","value":{"score":1},"recrods":[]}`, `recrods [] Unknown field. Did you mean "records"?`},
	} {
		_, _, err := NewRecords(parse(t, c.body), testIntake)
		if got := strings.Join(noted(t, err), "; "); got != c.fault {
			t.Errorf("%.80s\ngot  %s\nwant %s", c.body, got, c.fault)
		}
	}
}

func batchOf(n int, record string) string {
	return `{"records":[` + strings.TrimSuffix(strings.Repeat(record+",", n), ",") + `]}`
}

func TestNewRecords(t *testing.T) {
	const good = `{"data_type":"pain_scores","value":7}`
	made := 0
	in := testIntake
	in.NewID = func() id.Record { made++; return id.New[id.RecordKind](testNow) }
	for _, n := range []int{1, 1000} {
		made = 0
		records, batch, err := NewRecords(parse(t, batchOf(n, good)), in)
		if err != nil || !batch || len(records) != n || made != n {
			t.Fatalf("%d records: %d, batch %v, %v, %d identifiers", n, len(records), batch, err, made)
		}
		if n > 1 && records[0].ID == records[1].ID {
			t.Error("two records with one identifier")
		}
	}
	for _, c := range []struct{ body, fault string }{
		{`{"records":[]}`, `records [] records must have from 1 to 1000 records.`},
		{`{"records":null}`, `records null records must have from 1 to 1000 records.`},
		{`{"records":{}}`, `records {} records must be an array.`},
		{`{"records":[` + good + `,7]}`, `records[1] 7 records[1] must be an object.`},
		{`{"records":[` + good + `],"data_type":"mood"}`, `data_type "mood" Unknown field.`},
		{`{"records":[` + good + `,{"data_type":"pain_scores","value":{"score":11}},{"data_type":"x","value":1},{"data_type":"pain_scores","value":12},{"data_type":"sleep","value":{"hours":25,"hour":1}}]}`,
			`records[1].value.score 11 records[1].value.score must be a whole number from 0 to 10 on the scale nrs.; ` +
				`records[2].data_type "x" records[2].data_type must be one of ` + strings.Join(dataTypeNames, ", ") + `.; ` +
				`records[3].value 12 records[3].value must be a whole number from 0 to 10 on the scale nrs.; ` +
				`records[4].value.hours 25 records[4].value.hours must be a number from 0 to 24.; ` +
				`records[4].value.hour 1 Unknown field. Did you mean "hours"?`},
	} {
		records, batch, err := NewRecords(parse(t, c.body), in)
		if got := strings.Join(noted(t, err), "; "); got != c.fault || records != nil || !batch {
			t.Errorf("%.80s\ngot  %s (%d records, batch %v)\nwant %s", c.body, got, len(records), batch, c.fault)
		}
	}
	_, _, err := NewRecords(parse(t, batchOf(1001, good)), in)
	if lines := noted(t, err); len(lines) != 1 || !strings.HasSuffix(lines[0], "records must have from 1 to 1000 records.") {
		t.Errorf("1001 records: %q", lines)
	}
}

func TestParseDataType(t *testing.T) {
	var names []string
	for i, info := range DataTypes() {
		parsed, err := ParseDataType("data_type", info.Name)
		if err != nil || parsed != info.Type || parsed.String() != info.Name || int(parsed) != i+1 || info.About == "" {
			t.Errorf("%+v: %v, %v", info, parsed, err)
		}
		names = append(names, info.Name)
	}
	want := []string{"pain_scores", "medications", "assessments", "procedures", "functional_status", "sleep", "mood", "activity", "adverse_events", "vitals", "labs", "notes"}
	if !slices.Equal(names, want) {
		t.Errorf("order: %q", names)
	}
	_, err := ParseDataType("data_type", "medication")
	if got := noted(t, err); len(got) != 1 || got[0] != `data_type "medication" data_type must be one of `+strings.Join(want, ", ")+`. Did you mean "medications"?` {
		t.Errorf("got %q", got)
	}
	if s := DataType(0).String() + DataType(99).String(); s != "" {
		t.Errorf("no type is called %q", s)
	}
}

func TestErrorsHoldNoValues(t *testing.T) {
	_, _, err := NewRecords(parse(t, `{"data_type":"Secret","value":"Secret","Secret":1,"notes":["Secret"]}`), testIntake)
	if err == nil || strings.Contains(err.Error(), "Secret") {
		t.Errorf("got %v", err)
	}
}

func TestStatusActive(t *testing.T) {
	for status, want := range map[Status]bool{Final: true, Amended: true, Superseded: false, EnteredInError: false} {
		if status.Active() != want {
			t.Errorf("%s active: %v", status, !want)
		}
	}
}

// Equal values of a batch are read once, which shows in nothing: a medication is
// derived for the day of each record, and an error is reported for each.
func TestEqualValuesOfABatch(t *testing.T) {
	bodies := []string{
		`{"data_type":"pain_scores","recorded_at":"2024-05-01","value":{"score":4,"quality":["burning"]}}`,
		`{"data_type":"pain_scores","recorded_at":"2024-05-02","value":{"score":4,"quality":["burning"]},"notes":"again"}`,
		`{"data_type":"pain_scores","recorded_at":"2024-05-02","value":4}`,
		`{"data_type":"medications","recorded_at":"2024-05-01","value":{"name":"oxycodone","days_supply":7}}`,
		`{"data_type":"medications","recorded_at":"2024-06-01","value":{"name":"oxycodone","days_supply":7}}`,
		`{"data_type":"medications","recorded_at":"2024-07-01","value":{"name":"oxycodone","days_supply":7,"status":"stopped"}}`,
		`{"data_type":"medications","recorded_at":"2024-08-01","value":{"name":"oxycodone","days_supply":7,"status":"stopped"}}`,
	}
	batch, isBatch, err := NewRecords(parse(t, `{"records":[`+strings.Join(slices.Concat(bodies, bodies), ",")+`]}`), testIntake)
	if err != nil || !isBatch || len(batch) != 2*len(bodies) {
		t.Fatal(err)
	}
	for i := range batch {
		one, _, err := NewRecords(parse(t, bodies[i%len(bodies)]), testIntake)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(AppendRecord(nil, &batch[i])), string(AppendRecord(nil, &one[0])); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		checkMade(t, &batch[i])
	}
	wrong := `{"data_type":"pain_scores","value":{"score":11}}`
	_, _, err = NewRecords(parse(t, `{"records":[`+bodies[0]+","+wrong+","+bodies[0]+","+wrong+`]}`), testIntake)
	if got := noted(t, err); len(got) != 2 {
		t.Errorf("faults %q", got)
	}
}

// The values that are kept for a file are limited in number and length.
func TestKnownValuesAreFew(t *testing.T) {
	known := KnownValues{}
	for i := range mostKnown + 10 {
		known.add(sentValue{&painScores, strconv.Itoa(i)}, knownValue{})
	}
	if len(known) != 10 {
		t.Errorf("%d values are kept", len(known))
	}
	known.add(sentValue{&notes, strings.Repeat("x", longestKnown+1)}, knownValue{})
	if len(known) != 10 {
		t.Error("a long value is kept")
	}
	in := testIntake
	in.Known = KnownValues{}
	for range 2 {
		record := NewRecord(parse(t, `{"data_type":"pain_scores","recorded_at":"2024-05-01","value":{"score":4}}`), new(fault.Fields), in)
		if record.Value.JSON() != `{"scale":"nrs","score":4,"aspect":"current","recall":"now","derived":{"normalized":4,"severity":"moderate","scheme":"default"}}` || len(in.Known) != 1 {
			t.Errorf("%s, %d values are kept", record.Value.JSON(), len(in.Known))
		}
	}
}
