package export

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// planted are records with a marker, such as Marker07, in every field that
// callers write freely.
var planted = []string{
	`{"data_type":"pain_scores","recorded_at":"2024-03-17T08:15:00Z","value":{"score":8,"breakthrough":{"peak":9,"trigger":"incident"}},"notes":"Marker01","author":"Marker02","encounter_id":"Marker03","source":"patient"}`,
	`{"data_type":"medications","recorded_at":"2024-04-17T08:15:00Z","value":{"name":"Marker04 oxycodone","rxnorm_code":"7804","ndc":"00406-0512-01","strength":10,"strength_unit":"mg","quantity":60,"days_supply":30,
		"frequency":"Marker05","start_date":"2024-04-18","end_date":"2024-05-18","status":"stopped","prescriber_id":"Marker06","pharmacy_id":"Marker07","indication":"Marker08","stop_reason":"Marker09"}}`,
	`{"data_type":"assessments","recorded_at":"2024-04-19","value":{"instrument":"phq_9","version":"Marker10","items":{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1}}}`,
	`{"data_type":"procedures","recorded_at":"2024-04-20","value":{"procedure_type":"nerve_block","level":"Marker11","performer":"Marker12","cpt_code":"62323","complication":"Marker13","pre_score":8,"post_score":4}}`,
	`{"data_type":"functional_status","recorded_at":"2024-04-21","value":{"measure":"marker14","value":"Marker15","unit":"Marker16"}}`,
	`{"data_type":"functional_status","recorded_at":"2024-04-22","value":{"measure":"tug_s","value":12}}`,
	`{"data_type":"sleep","recorded_at":"2024-04-23","value":{"hours":6}}`,
	`{"data_type":"mood","recorded_at":"2024-04-24","value":{"score":4,"assessment_id":"rec_01kf0k8y20ebz49trwgsgjxktz"}}`,
	`{"data_type":"activity","recorded_at":"2024-04-25","value":{"steps":4000}}`,
	`{"data_type":"adverse_events","recorded_at":"2024-04-26","value":{"event":"other","grade":2,"suspected_drug":"Marker17","onset":"2024-04","resolved":"2024-04-26","outcome":"Marker18"}}`,
	`{"data_type":"vitals","recorded_at":"2024-04-27","value":{"systolic":120,"diastolic":80}}`,
	`{"data_type":"labs","recorded_at":"2024-04-28","value":{"loinc":"2160-0","value":1.1,"unit":"Marker19","analyte":"Marker20"}}`,
	`{"data_type":"labs","recorded_at":"2024-04-29","value":{"analyte":"Oxycodone","method":"immunoassay","result":"positive","expected":"positive","value":2,"unit":"ng/mL"}}`,
	`{"data_type":"notes","recorded_at":"2024-04-30","value":{"text":"Marker21","note_type":"Marker22"}}`,
}

// markedPatient is a patient of 95 years with a marker in every text.
func markedPatient(t testing.TB, o store.Org) pain.Patient {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	p := pain.Patient{
		ID: id.New[id.PatientKind](now), Name: "Marker30", DateOfBirth: pain.Date{Year: now.Year() - 96, Month: time.May, Day: 17}, Gender: "Marker31",
		Contact: pain.Contact{Email: "marker32@example.org", Phone: "Marker33"}, CreatedAt: now, Version: 1,
		Identifiers:    pain.NewIdentifiers(pain.Identifier{System: "mrn", Value: "Marker36"}),
		MedicalHistory: pain.NewHistory(pain.HistoryEntry{Condition: "Marker34", ICD10Code: "M54.50", Notes: "Marker35", OnsetDate: "2019-06-01", Category: "pain", Status: "active"}),
	}
	if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	add(t, o, p, planted...)
	return p
}

// secrets match what de-identified data must not contain: markers, identifiers,
// contacts, dates and times.
var secrets = regexp.MustCompile(`(?i)marker\d\d|(pat|rec|org|cli)_[0-9a-z]{26}|@|\d{4}-\d{2}-\d{2}|\d{2}:\d{2}|\b(2019|2024)\b`)

func TestDeidentified(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "north")
		o := s.For(&who)
		p := markedPatient(t, o)
		for _, format := range reports.ExportFormats {
			options := Default()
			options.Format = format
			_, _, identified := run(t, o, options, time.Now())
			isPlanted(t, identified)
			options.Deidentify = true
			_, b, tables := run(t, o, options, time.Now())
			for name, content := range b.files {
				if name == DictionaryName {
					continue // it names columns, not values
				}
				if found := secrets.FindString(content.String()); found != "" && format != reports.Parquet {
					t.Errorf("%s contains %q", name, found)
				}
			}
			for name, rows := range tables {
				for _, row := range rows {
					for column, value := range row {
						if found := secrets.FindString(value); found != "" {
							t.Errorf("%s: %s.%s contains %q", format, name, column, found)
						}
					}
				}
			}
			people := tables["patients"]
			if len(people) != 1 || people[0]["age"] != "90" || people[0]["age_group"] != "90+" || people[0]["gender_group"] != "other" || people[0]["first_recorded_at_day"] != "0" ||
				people[0]["last_recorded_at_day"] != "44" || people[0]["condition_codes"] != "M54.50" || !strings.HasPrefix(people[0]["patient_id"], "psn_") {
				t.Errorf("%s: patients %v", format, people)
			}
			if m := tables["medications"][0]; m["recorded_at_day"] != "31" || m["start_date_day"] != "32" || m["end_date_day"] != "62" || m["rxnorm_code"] != "7804" || m["patient_id"] != people[0]["patient_id"] {
				t.Errorf("%s: medication %v", format, m)
			}
			if f := tables["functional_status"]; f[0]["measure"] != "" || f[1]["measure"] != "tug_s" || f[1]["unit"] != "s" {
				t.Errorf("%s: functional status %v", format, f)
			}
			if l := tables["labs"]; l[0]["unit"] != "" || l[1]["analyte"] != "oxycodone" || l[1]["unit"] != "ng/mL" {
				t.Errorf("%s: labs %v", format, l)
			}
			if e := tables["adverse_events"][0]; e["onset_day"] != "" || e["resolved_day"] != "40" {
				t.Errorf("%s: adverse event %v", format, e)
			}
			if m := tables["mood"][0]; !strings.HasPrefix(m["assessment_id"], "psn_") {
				t.Errorf("%s: mood %v", format, m)
			}
			if n := tables["notes"][0]; len(n) != 4 { // two pseudonyms, a day and the status
				t.Errorf("%s: note %v", format, n)
			}
		}
		if strings.Contains(fmt.Sprint(planted), p.Name) {
			t.Error("the name is planted twice")
		}
	})
}

// isPlanted fails if a column that de-identification removes or checks is empty
// in all rows: a new field needs a marker above.
func isPlanted(t *testing.T, tables map[string]grid) {
	t.Helper()
	for _, table := range everyTable() {
		if table.name == summariesPart {
			continue // its columns are computed from the others
		}
		for _, c := range table.columns {
			if c.Privacy != pain.Removed && c.Privacy != pain.KeptIfKnown && !(c.Privacy == pain.DaysOnly && c.Type == pain.TextColumn) {
				continue
			}
			if !slices.ContainsFunc(tables[table.name], func(row map[string]string) bool { return row[c.Name] != "" }) && !onlyInScores(table.name, c.Name) {
				t.Errorf("no marker is planted in %s.%s; rows are %v", table.name, c.Name, slices.Sorted(maps.Keys(tables)))
			}
		}
	}
}

// onlyInScores reports whether a column is planted in one table for all: the
// columns that every record has.
func onlyInScores(table, column string) bool {
	return table != "pain_scores" && slices.ContainsFunc(afterValue, func(c pain.Column) bool { return c.Name == column })
}

// A pseudonym is the same in every export of an organisation, and cannot be
// computed without its key.
func TestPseudonyms(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	north, south := storetest.Client(t, s, "north"), storetest.Client(t, s, "south")
	one, two := s.System().PseudonymKey(north.Org), s.System().PseudonymKey(south.Org)
	of := func(key []byte, text string) string { return pseudonyms(key)(pain.TextCell(text), nil).Text }
	if of(one, "pat_1") != of(s.System().PseudonymKey(north.Org), "pat_1") {
		t.Error("a pseudonym changed")
	}
	if of(one, "pat_1") == of(two, "pat_1") || of(one, "pat_1") == of(one, "pat_2") {
		t.Error("a pseudonym is not unique")
	}
	if c := pseudonyms(one)(pain.Cell{}, nil); c.Set {
		t.Error("null has a pseudonym")
	}
}

// The order of de-identified rows does not tell who was registered first.
func TestDeidentifiedOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "north")
		o := s.For(&who)
		const people = 30
		for i := range people {
			add(t, o, storetest.AddPatient(t, o, "P"), strings.Repeat(" ", i)+`{"data_type":"pain_scores","value":4}`)
		}
		options := Default()
		options.Format, options.Deidentify = reports.NDJSON, true
		orders := map[string]bool{}
		var everybody string
		for range 3 {
			_, _, tables := run(t, o, options, time.Now())
			var ids []string
			for _, row := range tables["patients"] {
				ids = append(ids, row["patient_id"])
			}
			if len(tables["pain_scores"]) != people {
				t.Fatalf("%d scores of %d patients", len(tables["pain_scores"]), people)
			}
			for i, row := range tables["pain_scores"] {
				if !slices.Contains(ids, row["patient_id"]) {
					t.Fatalf("row %d of the scores is of no patient", i)
				}
			}
			orders[strings.Join(ids, " ")] = true
			slices.Sort(ids)
			if all := strings.Join(ids, " "); len(slices.Compact(ids)) != people || everybody != "" && all != everybody {
				t.Errorf("%d patients: %s", len(ids), all)
			} else {
				everybody = all
			}
		}
		if len(orders) != 3 {
			t.Errorf("%d orders in 3 exports", len(orders))
		}
	})
}

// What is true on the day of the export would date the days of a patient who
// takes an opioid on it.
func TestDeidentifiedToday(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	now := time.Now().UTC()
	add(t, o, storetest.AddPatient(t, o, "P"), fmt.Sprintf(`{"data_type":"medications","recorded_at":%q,"value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":60,"days_supply":30}}`,
		now.AddDate(0, 0, -3).Format(time.DateOnly)))
	options := Default()
	options.Format = reports.NDJSON
	_, _, tables := run(t, o, options, now)
	if len(tables["opioid_doses"]) != 1 || tables["summaries"][0]["mme_current"] != "30" {
		t.Fatalf("doses %v, summaries %v", tables["opioid_doses"], tables["summaries"])
	}
	options.Deidentify = true
	_, _, tables = run(t, o, options, now)
	if d := tables["opioid_doses"]; len(d) != 0 {
		t.Errorf("doses %v", d)
	}
	for _, name := range []string{"current_medications", "current_drug_classes", "mme_current", "mme_current_band"} {
		if value, there := tables["summaries"][0][name]; there {
			t.Errorf("%s is %s", name, value)
		}
	}
}
