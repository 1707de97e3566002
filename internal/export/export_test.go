package export

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/strictjson"
)

// everyTable returns all tables.
func everyTable() (list []*table) {
	o := Default()
	people, summaries, records := o.tables()
	list = slices.Concat(people, summaries)
	for _, info := range pain.DataTypes() {
		list = append(list, records[info.Type])
	}
	return list
}

// A new data type gets its table by itself, and every column of every table
// declares what happens to it when data is de-identified.
func TestTables(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, table := range everyTable() {
		if table == nil {
			t.Fatal("a data type has no table")
		}
		if names[table.name] || table.about == "" {
			t.Errorf("table %s: its name must be unique, and its meaning declared", table.name)
		}
		names[table.name] = true
		columns := map[string]bool{}
		for _, c := range table.columns {
			if columns[c.Name] {
				t.Errorf("%s has two columns %s", table.name, c.Name)
			}
			columns[c.Name] = true
			if !c.Privacy.Decided() {
				t.Errorf("%s.%s: declare what happens to it when data is de-identified", table.name, c.Name)
			}
			if (c.Type == pain.DateColumn || c.Type == pain.MomentColumn) && c.Privacy != pain.DaysOnly && c.Privacy != pain.Removed {
				t.Errorf("%s.%s: a date stays in de-identified data", table.name, c.Name)
			}
		}
		deidentified := map[string]bool{}
		for _, c := range outlets(table.columns, []byte("key")) {
			if deidentified[c.Name] {
				t.Errorf("%s has two columns %s when de-identified", table.name, c.Name)
			}
			deidentified[c.Name] = true
		}
	}
	for _, info := range pain.DataTypes() {
		if !names[info.Name] {
			t.Errorf("%s has no table", info.Name)
		}
	}
}

func TestExport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		north, south := storetest.Client(t, s, "north"), storetest.Client(t, s, "south")
		o := s.For(&north)
		ada, bo := storetest.AddPatient(t, o, "Ada, \"the\"\nfirst"), storetest.AddPatient(t, o, "Bo")
		storetest.AddPatient(t, s.For(&south), "Somebody else")
		add(t, o, ada,
			`{"data_type":"pain_scores","recorded_at":"2025-12-01T09:00:00.123Z","value":{"score":8,"aspect":"average","quality":["burning","dull"]},"notes":"a|b","source":"patient"}`,
			`{"data_type":"pain_scores","recorded_at":"2026-01-01","value":5}`,
			`{"data_type":"medications","recorded_at":"2025-12-01T09:00:00Z","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30,"frequency":"TID","route":"oral"}}`,
			`{"data_type":"assessments","recorded_at":"2025-12-02","value":{"instrument":"phq_9","items":{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1}}}`)
		wrong := storetest.Record(t, ada.ID, `{"data_type":"pain_scores","recorded_at":"2025-12-03","value":9}`)
		if err := storetest.AddRecords(t.Context(), o, ada.ID, wrong); err != nil {
			t.Fatal(err)
		}
		if _, err := storetest.Correct(t.Context(), o, ada.ID, wrong.ID, `{"reason":"other patient","entered_in_error":true}`); err != nil {
			t.Fatal(err)
		}
		var first map[string]grid
		for _, format := range reports.ExportFormats {
			options := Default()
			options.Format = format
			made, b, tables := run(t, o, options, time.Now())
			if want := len(everyTable()) + 1; len(made.Files) != want || b.files[DictionaryName] == nil {
				t.Errorf("%s: %d files, want %d", format, len(made.Files), want)
			}
			people := tables["patients"]
			if len(people) != 2 || people[0]["name"] != ada.Name || people[1]["patient_id"] != bo.ID.String() || people[0]["records"] != "4" || people[1]["first_recorded_at"] != "" ||
				people[0]["contact_email"] != "a@example.org" || people[0]["condition_codes"] != "M54.50" || people[0]["date_of_birth"] != "1961-03-14" {
				t.Errorf("%s: patients %v", format, people)
			}
			scores := tables["pain_scores"]
			if len(scores) != 2 || scores[0]["recorded_at"] != "2025-12-01T09:00:00.123Z" || scores[0]["quality"] != "burning|dull" || scores[0]["notes"] != "a|b" ||
				scores[0]["derived_severity"] != "severe" || scores[1]["score"] != "5" || scores[1]["patient_id"] != ada.ID.String() {
				t.Errorf("%s: scores %v", format, scores)
			}
			if m := tables["medications"]; len(m) != 1 || m[0]["derived_mme_per_day"] != "45" || m[0]["derived_opioid"] != "true" || m[0]["derived_covered_to"] != "2025-12-30" {
				t.Errorf("%s: medications %v", format, m)
			}
			if a := tables["assessments"]; len(a) != 1 || a[0]["item_9"] != "1" || a[0]["item_10"] != "" || a[0]["score"] != "9" || a[0]["derived_safety_flag"] != "true" {
				t.Errorf("%s: assessments %v", format, a)
			}
			if d := tables["opioid_doses"]; len(d) == 0 || d[0]["mme"] != "45" || d[0]["first_day"] != "2025-12-01" {
				t.Errorf("%s: doses %v", format, d)
			}
			if x := tables["summaries"]; len(x) != 2 || x[0]["pain_baseline"] != "8" || x[0]["phq_9_score"] != "9" || x[0]["flag_phq9_item9"] != "true" || x[1]["pain_scores"] != "0" {
				t.Errorf("%s: summaries %v", format, x)
			}
			if first == nil {
				first = tables
			}
			for name, rows := range tables {
				if !slices.EqualFunc(rows, first[name], maps.Equal) {
					t.Errorf("%s: %s is %v, in %s it was %v", format, name, rows, reports.ExportFormats[0], first[name])
				}
			}
			for name, content := range b.files {
				if strings.Contains(content.String(), "Somebody else") {
					t.Errorf("%s contains a patient of another organisation", name)
				}
			}
		}
	})
}

// The dictionary describes exactly the columns that the files have.
func TestDictionary(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	for _, deidentify := range []bool{false, true} {
		options := Default()
		options.Format, options.Deidentify = reports.ExportCSV, deidentify
		made, b, _ := run(t, s.For(&who), options, time.Now())
		var want []string
		for _, f := range made.Files {
			if f.Table != "" {
				header, _, _ := strings.Cut(b.files[f.Name].String(), "\r\n")
				for _, column := range append([]string{""}, strings.Split(header, ",")...) {
					want = append(want, f.Name+" "+column)
				}
			}
		}
		var got []string
		for _, row := range readCSV(t, b.files[DictionaryName].Bytes()) {
			got = append(got, row["file"]+" "+row["column"])
			if row["type"] == "" {
				t.Errorf("%v has no type", row)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the dictionary has %q, the files %q", got, want)
		}
	}
}

// since leaves out what was stored before, and filters select patients with all
// their records.
func TestSinceAndFilters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "north")
		o := s.For(&who)
		old, late := storetest.AddPatient(t, o, "Old"), storetest.AddPatient(t, o, "Late")
		now := time.Now().UTC()
		before, after := now.Add(-time.Hour), now.Add(time.Hour)
		for _, p := range []pain.Patient{old, late} {
			rec := storetest.RecordAt(t, now, p.ID, `{"data_type":"pain_scores","value":4}`)
			if err := storetest.AddRecordsAt(t.Context(), o, now, p.ID, rec); err != nil {
				t.Fatal(err)
			}
		}
		rec := storetest.RecordAt(t, after, late.ID, `{"data_type":"medications","recorded_at":"`+now.Format(time.RFC3339)+`","value":{"name":"morphine","dose":10,"dose_unit":"mg","frequency":"BID","days_supply":10,"route":"oral"}}`)
		if err := storetest.AddRecordsAt(t.Context(), o, after, late.ID, rec); err != nil {
			t.Fatal(err)
		}
		for body, want := range map[string]string{
			`{"format":"ndjson"}`: "2 2 1",
			`{"format":"ndjson","since":"` + before.Format(time.RFC3339) + `"}`:                  "2 2 1",
			`{"format":"ndjson","since":"` + now.Add(30*time.Minute).Format(time.RFC3339) + `"}`: "1 0 1",
			`{"format":"ndjson","filters":{"medication_class":"opioid"}}`:                        "1 1 1",
			`{"format":"ndjson","filters":{"medication_class":"nsaid"}}`:                         "0 0 0",
			`{"format":"ndjson","filters":{"gender":"male"}}`:                                    "0 0 0",
			`{"format":"ndjson","filters":{"gender":"female","age_min":18,"condition":"M54"}}`:   "2 2 1",
			`{"format":"ndjson","filters":{"age_max":17}}`:                                       "0 0 0",
			`{"format":"ndjson","include":["patients","medications"],"filters":{}}`:              "2 - 1",
			`{"format":"ndjson","include":["pain_scores"],"deidentify":true}`:                    "- 2 -",
		} {
			options := read(t, body, after)
			stored, err := options.Request()
			if err != nil {
				t.Fatal(err)
			}
			if options, err = Stored(&stored, after); err != nil {
				t.Fatal(err)
			}
			_, _, tables := run(t, o, options, after)
			var got []string
			for _, name := range []string{"patients", "pain_scores", "medications"} {
				if rows, here := tables[name]; here || rows != nil {
					got = append(got, fmt.Sprint(len(rows)))
				} else {
					got = append(got, "-")
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", body, got, want)
			}
		}
	})
}

func read(t testing.TB, body string, now time.Time) Options {
	t.Helper()
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	o, err := Read(object, now)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// De-identified data may select all ages over 89 together, or none of them.
func TestAgesOver89(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for _, filters := range []string{`{"age_min":90}`, `{"age_max":89}`, `{"age_min":85,"end_date":"2021-01-15"}`} {
		read(t, `{"format":"csv","deidentify":true,"filters":`+filters+`}`, now)
	}
	read(t, `{"format":"csv","filters":{"age_min":95,"age_max":99}}`, now)
	who := &subject{begun: true, firstDay: 40000}
	for day, want := range map[float64]bool{40000: true, 40000 + 32507: true, 40000 + 32508: false, 40000 - 32507: true, 40000 - 32508: false} {
		if got := daysOf(pain.DateColumn)(pain.NumberCell(day), who); got.Set != want {
			t.Errorf("day %v: %v", day, got)
		}
	}
}

// An export since the time of another loses nothing that was stored within the
// same second.
func TestSinceIsAWholeSecond(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	now := second.Add(700 * time.Millisecond)
	if o := read(t, `{"format":"csv","since":"2026-01-15T10:30:00.700Z"}`, now); !o.Since.Equal(second) {
		t.Errorf("since %s", o.Since)
	}
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	options := Default()
	options.Format = reports.NDJSON
	if made, _, _ := run(t, s.For(&who), options, now); !made.AsOf.Equal(second) {
		t.Errorf("as of %s", made.AsOf)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for body, want := range map[string]string{
		`{}`:                            "format is required.",
		`{"format":"xlsx"}`:             "format must be one of parquet, ndjson, csv.",
		`{"format":"csv","include":[]}`: "include must name at least one of patients",
		`{"format":"csv","include":["pain_score"]}`:                                           `Did you mean "pain_scores"?`,
		`{"format":"csv","include":["patients","patients"]}`:                                  "include[1] must not be repeated.",
		`{"format":"csv","since":"yesterday"}`:                                                "since must be a time",
		`{"format":"csv","since":"2026-01-16"}`:                                               "since must not be in the future",
		`{"format":"csv","deidentify":"yes"}`:                                                 "deidentify",
		`{"format":"csv","filters":{"gender":"x"}}`:                                           "filters.gender",
		`{"format":"csv","deidentify":true,"filters":{"age_min":91}}`:                         "filters.age_min tells ages over 89 apart",
		`{"format":"csv","deidentify":true,"filters":{"age_max":90}}`:                         "filters.age_max tells ages over 89 apart",
		`{"format":"csv","deidentify":true,"filters":{"age_min":86,"end_date":"2021-01-15"}}`: "filters.age_min tells ages over 89 apart",
		`{"format":"csv","filters":{"interval":"day"}}`:                                       "Unknown field.",
		`{"format":"csv","patient":"x"}`:                                                      "Unknown field.",
	} {
		object, err := strictjson.Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(object, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// Every part has a scope, and an export needs those of all its parts.
func TestScopes(t *testing.T) {
	t.Parallel()
	for _, p := range Parts() {
		if p.Scopes == 0 || p.About == "" {
			t.Errorf("%s has no scope or no meaning", p.Name)
		}
	}
	for _, c := range []struct {
		include []string
		want    access.Scopes
	}{
		{[]string{"patients"}, access.PatientsRead},
		{[]string{"pain_scores"}, access.ClinicalDataRead},
		{[]string{"clinical_data"}, access.ClinicalDataRead},
		{[]string{"summaries"}, access.PatientsRead | access.ClinicalDataRead},
		{Default().Include, access.PatientsRead | access.ClinicalDataRead},
	} {
		if got := (&Options{Include: c.include}).Scopes(); got != c.want {
			t.Errorf("%v: %s, want %s", c.include, got, c.want)
		}
	}
	for filters, want := range map[string]access.Scopes{
		`{}`:                            access.ClinicalDataRead,
		`{"start_date":"2025-01-01"}`:   access.ClinicalDataRead,
		`{"gender":"female"}`:           access.PatientsRead | access.ClinicalDataRead,
		`{"condition":"F11"}`:           access.PatientsRead | access.ClinicalDataRead,
		`{"medication_class":"opioid"}`: access.PatientsRead | access.ClinicalDataRead,
	} {
		p, err := analytics.StoredParameters([]byte(filters), analytics.ForExports, pain.Date{Year: 2026, Month: 1, Day: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Options{Include: []string{"pain_scores"}, Filters: &p}).Scopes(); got != want {
			t.Errorf("%s: %s, want %s", filters, got, want)
		}
		if got := (&Options{Include: []string{"patients"}, Filters: &p}).Scopes(); got.Has(access.ClinicalDataRead) != strings.Contains(filters, "opioid") {
			t.Errorf("patients with %s: %s", filters, got)
		}
	}
	for _, include := range [][]string{{"patients"}, {"patients", "sleep"}} {
		o := Options{Include: include}
		people, _, _ := o.tables()
		if has := slices.ContainsFunc(people[0].columns, func(c pain.Column) bool { return slices.Contains(clinicalColumns, c.Name) }); has != (len(include) > 1) {
			t.Errorf("%v: has columns of clinical data: %v", include, has)
		}
	}
}

// Patients with large charts do not wait for a full batch.
func TestBatchOfLargeCharts(t *testing.T) {
	t.Parallel()
	w := writing{options: &Options{}, from: &patients.ExportReader{}, ctx: t.Context(), charts: true, who: &subject{}}
	rec := storetest.Record(t, id.Patient{}, `{"data_type":"medications","value":{"name":"oxycodone"},"notes":"long"}`)
	for range batchBytes / recordBytes {
		if err := w.record(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if w.who.chart[0].Notes != "" {
		t.Error("a chart has notes")
	}
	s := &sink{most: peopleAtOnce, batches: make(chan []item, batchesAhead)}
	if err := s.put(t.Context(), item{w.who, nil}); err != nil || len(s.batches) != 1 {
		t.Errorf("%d batches, %v", len(s.batches), err)
	}
}

// failing is a folder whose files cannot be written.
type failing struct{ after int }

var errFull = errors.New("no space left")

type failingFile struct{}

func (failingFile) Write([]byte) (int, error) { return 0, errFull }
func (failingFile) Close() error              { return nil }

// Create implements Folder.
func (f *failing) Create(string) (io.WriteCloser, error) {
	if f.after--; f.after == 0 {
		return nil, errFull
	}
	return failingFile{}, nil
}

// Scratch implements Folder.
func (*failing) Scratch() (*os.File, error) { return nil, errFull }

// An export that cannot be written fails with the reason, and leaves no
// goroutine behind.
func TestExportFails(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	p := storetest.AddPatient(t, o, "Ada")
	add(t, o, p, `{"data_type":"pain_scores","value":4}`)
	for _, after := range []int{1, 3, 100} {
		for _, format := range reports.ExportFormats {
			options := Default()
			options.Format = format
			if _, err := Run(t.Context(), o, options, nil, time.Now(), &failing{after}, func(int64, int64) {}); !errors.Is(err, errFull) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}
