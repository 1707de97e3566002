package export

import (
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Ages over 89 are not in de-identified data, wherever they were recorded.
func TestDeidentifiedAges(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	p := storetest.AddPatient(t, o, "P")
	for _, code := range []string{"30525-0", "21612-7", "29553-5"} {
		add(t, o, p, `{"data_type":"labs","value":{"loinc":"`+code+`","value":93.25,"unit":"a","ref_low":93.25,"ref_high":93.25}}`,
			`{"data_type":"labs","value":{"loinc":"`+code+`","value":1119.25,"unit":"mo"}}`,
			`{"data_type":"labs","value":{"loinc":"`+code+`","value":41.5}}`)
	}
	add(t, o, p, `{"data_type":"labs","value":{"loinc":"2160-0","value":93.75,"unit":"umol/L"}}`,
		`{"data_type":"functional_status","value":{"measure":"age_years","value":97.25}}`,
		`{"data_type":"functional_status","value":{"measure":"tug_s","value":98.5}}`)
	options := Default()
	options.Format, options.Deidentify = reports.NDJSON, true
	_, b, tables := run(t, o, options, time.Now())
	for name, file := range b.files {
		for _, secret := range []string{"93.25", "1119.25", "97.25"} {
			if strings.Contains(file.String(), secret) {
				t.Errorf("%s has %s: %s", name, secret, file)
			}
		}
	}
	values := map[string]int{}
	for _, row := range append(tables["labs"], tables["functional_status"]...) {
		values[row["value"]]++
	}
	for value, want := range map[string]int{"90": 3, "41.5": 3, "93.75": 1, "98.5": 1, "": 4} {
		if values[value] != want {
			t.Errorf("%d values are %q, want %d: %v", values[value], value, want, values)
		}
	}
}

// An export without clinical data does not tell who has newer records.
func TestSinceOfPatientsOnly(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	now := time.Now()
	p := storetest.AddPatient(t, o, "P")
	later := now.Add(2 * time.Hour)
	if err := storetest.AddRecordsAt(t.Context(), o, later, p.ID, storetest.RecordAt(t, later, p.ID, `{"data_type":"pain_scores","recorded_at":"2026-01-05","value":4}`)); err != nil {
		t.Fatal(err)
	}
	for include, want := range map[string]int{"patients": 0, "patients " + pain.DataTypes()[0].Name: 1} {
		options := Default()
		options.Format, options.Include, options.Since = reports.NDJSON, strings.Fields(include), now.Add(time.Hour).Truncate(time.Second)
		if _, _, tables := run(t, o, options, later.Add(time.Hour)); len(tables["patients"]) != want {
			t.Errorf("%s: %d patients, want %d", include, len(tables["patients"]), want)
		}
	}
}
