package patients_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// clinicalBodies are values of every type that contributes to a series, of
// records that do not count, and of a type that does not contribute.
var clinicalBodies = []struct{ dataType, value string }{
	{"pain_scores", `{"score":%d,"aspect":"average"}`},
	{"pain_scores", `{"score":%d}`},
	{"pain_scores", `{"score":%d,"scale":"vas","aspect":"worst","body_site":"knee"}`},
	{"assessments", `{"instrument":"peg","items":{"1":%d,"2":7,"3":6}}`},
	{"assessments", `{"instrument":"phq_9","items":{"1":1,"9":1}}`},
	{"procedures", `{"procedure_type":"nerve_block","pre_score":8,"post_score":%d}`},
	{"medications", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":3%d}`},
	{"medications", `{"name":"lorazepam","days_supply":30,"start_date":"2021-0%d-28"}`},
	{"medications", `{"name":"oxycodone"}`},
	{"medications", `{"name":"oxycodone","status":"cancelled","days_supply":30}`},
	{"functional_status", `{"measure":"limits_life_or_work","value":"most_days"}`},
	{"functional_status", `{"measure":"tug_s","value":%d}`},
	{"labs", `{"analyte":"oxycodone","result":"positive"}`},
	{"sleep", `{"hours":%d}`},
}

func clinicalValue(kind, digit int) string {
	value := clinicalBodies[kind].value
	if strings.Contains(value, "%d") {
		value = fmt.Sprintf(value, digit)
	}
	return value
}

// clinicalAct is one action of a caller on a patient.
type clinicalAct struct {
	what  string   // add, correct or retract
	batch []string // records to add
	at    string   // of a correction; "" keeps the time
	pick  int      // which of all existing records
	digit int
}

var (
	clinicalTimes = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 2).Draw(t, "tie") == 0 { // the identifier then decides
			return "2020-07-15T00:00:00Z"
		}
		second := rapid.SampledFrom([]string{"00", "00", "17", "17.250"}).Draw(t, "second")
		return fmt.Sprintf("%d-%s-%02dT%02d:59:%sZ", rapid.IntRange(2019, 2022).Draw(t, "year"), rapid.SampledFrom([]string{"01", "07", "12"}).Draw(t, "month"),
			rapid.SampledFrom([]int{1, 15, 31}).Draw(t, "day"), rapid.SampledFrom([]int{0, 9, 23}).Draw(t, "hour"), second)
	})
	clinicalActs = rapid.Custom(func(t *rapid.T) clinicalAct {
		a := clinicalAct{what: rapid.SampledFrom([]string{"add", "add", "correct", "correct", "retract"}).Draw(t, "what"),
			pick: rapid.IntRange(0, 30).Draw(t, "pick"), digit: rapid.IntRange(1, 9).Draw(t, "digit")}
		switch a.what {
		case "add":
			for range rapid.IntRange(1, 6).Draw(t, "records") {
				kind := rapid.IntRange(0, len(clinicalBodies)-1).Draw(t, "kind")
				a.batch = append(a.batch, fmt.Sprintf(`{"data_type":%q,"recorded_at":%q,"value":%s}`, clinicalBodies[kind].dataType,
					clinicalTimes.Draw(t, "at"), clinicalValue(kind, rapid.IntRange(1, 9).Draw(t, "digit"))))
			}
		case "correct":
			if rapid.Bool().Draw(t, "moved") {
				a.at = clinicalTimes.Draw(t, "to")
			}
		}
		return a
	})
)

// clinicalHistory is a patient that several callers write to.
type clinicalHistory struct {
	tb      testing.TB
	patient id.Patient
	mu      sync.Mutex
	records []pain.Record
}

func (h *clinicalHistory) pick(n int) (pain.Record, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.records) == 0 {
		return pain.Record{}, false
	}
	return h.records[n%len(h.records)], true
}

func (h *clinicalHistory) keep(records ...pain.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, records...)
}

func (h *clinicalHistory) act(o store.Org, a clinicalAct) error {
	if a.what == "add" {
		var records []pain.Record
		for i, body := range a.batch {
			records = append(records, storetest.Record(h.tb, h.patient, body))
			if (a.pick+i)%9 == 0 { // as in an import
				records[i].Status = pain.EnteredInError
			}
		}
		err := storetest.AddRecords(h.tb.Context(), o, h.patient, records...)
		if err == nil {
			h.keep(records...)
		}
		return err
	}
	rec, ok := h.pick(a.pick)
	if !ok {
		return nil
	}
	body := `{"entered_in_error":true,"reason":"wrong patient"}`
	if a.what == "correct" {
		kind := slices.IndexFunc(clinicalBodies, func(b struct{ dataType, value string }) bool { return b.dataType == rec.Type.String() })
		body = `{"value":` + clinicalValue(kind, a.digit) + `}`
		if a.at != "" {
			body = fmt.Sprintf(`{"value":%s,"recorded_at":%q}`, clinicalValue(kind, a.digit), a.at)
		}
	}
	c, err := storetest.Correct(h.tb.Context(), o, h.patient, rec.ID, body)
	if fault.Is(err, fault.Conflict) {
		return nil // it was corrected before
	}
	if err == nil && c.Replaced {
		h.keep(c.New)
	}
	return err
}

// recomputed returns the patient's series by year, computed from the records as
// a caller reads them.
func recomputed(tb testing.TB, o store.Org, patientID id.Patient) map[int]string {
	tb.Helper()
	years := map[int]*series.Series{}
	if _, err := o.Records(tb.Context(), patientID, patients.RecordQuery{Page: 1, Limit: 100_000}, func(rec *pain.Record) {
		year := rec.RecordedAt.Year()
		if years[year] == nil {
			years[year] = &series.Series{}
		}
		if err := years[year].Add(rec); err != nil {
			tb.Error(err)
		}
	}); err != nil {
		tb.Fatal(err)
	}
	packed := map[int]string{}
	for year, s := range years {
		if s.Sort(); !s.Empty() {
			packed[year] = string(s.Encode(nil))
		}
	}
	return packed
}

// After any history of batches, late data, corrections and retractions, by
// several callers on two nodes, the series matches the records.
func TestSeriesIsWhatTheRecordsSay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		here := all[0].For(&who)
		entries := 0
		rapid.Check(t, func(rt *rapid.T) {
			h := &clinicalHistory{tb: t, patient: storetest.AddPatient(t, here, "Series").ID}
			var plans [][]clinicalAct
			for range rapid.IntRange(1, 3).Draw(rt, "callers") {
				plans = append(plans, rapid.SliceOfN(clinicalActs, 1, 8).Draw(rt, "acts"))
			}
			storetest.Together(t, len(plans), func(i int) error {
				for _, a := range plans[i] {
					if err := h.act(all[i%len(all)].For(&who), a); err != nil {
						return err
					}
				}
				return nil
			})
			want, got := recomputed(t, here, h.patient), here.SeriesOf(t, h.patient)
			if !maps.Equal(want, got) {
				rt.Fatalf("stored %x\nwant   %x", got, want)
			}
			entries += len(want)
		})
		if problems, _, err := all[0].System().CheckSeries(t.Context(), false, func(string, int64, int64) {}); len(problems) != 0 || err != nil {
			t.Errorf("CheckSeries: %q, %v", problems, err)
		}
		least := 50
		if testing.Short() { // a fifth of the checks
			least = 10
		}
		if entries < least {
			t.Errorf("only %d patient-years were looked at", entries)
		}
	})
}

// Differences are detected and repaired.
func TestCheckSeries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Checked")
		o := s.For(&who)
		var people []id.Patient
		for i := range 5 {
			p := storetest.AddPatient(t, o, storetest.PatientName(i)).ID
			people = append(people, p)
			for _, at := range []string{"2023-05-01", "2024-05-01"} {
				if err := storetest.AddRecords(t.Context(), o, p, storetest.Record(t, p, `{"data_type":"pain_scores","recorded_at":"`+at+`","value":5}`)); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(repair bool) ([]string, int) {
			at := int64(0)
			problems, repaired, err := s.System().CheckSeries(t.Context(), repair, func(org string, now, of int64) {
				if org != "Checked" || of != 5 {
					t.Errorf("progress of %s: %d of %d", org, now, of)
				}
				at = now
			})
			if err != nil || at != 5 {
				t.Fatalf("%v at %d", err, at)
			}
			if repaired.Standings != 0 {
				t.Errorf("%d standings repaired", repaired.Standings)
			}
			return problems, repaired.Years
		}
		if problems, _ := check(false); len(problems) != 0 {
			t.Fatalf("%q", problems)
		}
		// A missing, a corrupted, and a surplus series.
		storetest.Exec(t, s, `DELETE FROM patient_series WHERE patient_no = 1 AND year = 2023`)
		storetest.Exec(t, s, `UPDATE patient_series SET bytes = $1 WHERE patient_no = 2`, []byte("spoilt"))
		storetest.Exec(t, s, `INSERT INTO patient_series (org_no, patient_no, year, bytes) VALUES ($1, 3, 1999, $2)`, int64(who.Org), []byte{})
		problems, repaired := check(false)
		if len(problems) != 3 || repaired != 0 || !strings.Contains(problems[1], "Checked: patient "+people[1].String()) || !strings.Contains(problems[1], "[2023 2024]") {
			t.Errorf("found %d, %q", repaired, problems)
		}
		if problems, repaired := check(true); len(problems) != 0 || repaired != 4 {
			t.Errorf("repaired %d, left %q", repaired, problems)
		}
		if problems, repaired := check(true); len(problems) != 0 || repaired != 0 {
			t.Errorf("the second time repaired %d, left %q", repaired, problems)
		}
		for _, p := range people {
			if want, got := recomputed(t, o, p), o.SeriesOf(t, p); !maps.Equal(want, got) || len(got) != 2 {
				t.Errorf("stored %x, want %x", got, want)
			}
		}

		// A record that cannot be read is reported, not hidden by a repair.
		storetest.Exec(t, s, `UPDATE clinical_record SET value = '{}' WHERE patient_no = 4`)
		if problems, repaired := check(true); len(problems) != 1 || repaired != 0 || !strings.Contains(problems[0], "record rec_") {
			t.Errorf("repaired %d, left %q", repaired, problems)
		}
	})
}

// A series that is missing or cannot be read does not prevent a write, which
// rebuilds it.
func TestUnreadableSeriesIsMadeAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Again")
		o := s.For(&who)
		p := storetest.AddPatient(t, o, "Again").ID
		score := `{"data_type":"pain_scores","recorded_at":"2024-05-01","value":5}`
		for _, spoil := range []string{`UPDATE patient_series SET bytes = '' WHERE year = 2024`, `DELETE FROM patient_series WHERE year = 2024`, `DELETE FROM patient_series WHERE year = 1`} {
			if err := storetest.AddRecords(t.Context(), o, p, storetest.Record(t, p, score)); err != nil {
				t.Fatal(err)
			}
			if want, got := recomputed(t, o, p), o.SeriesOf(t, p); !maps.Equal(want, got) || len(got) != 1 {
				t.Errorf("stored %x, want %x", got, want)
			}
			storetest.Exec(t, s, spoil)
		}
	})
}

// A patient's chart includes every year, even if a series cannot be read.
func TestChart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "Charted")
		o := s.For(&who)
		p := storetest.AddPatient(t, o, "Charted")
		other := storetest.AddPatient(t, o, "Other").ID
		add := func(patient id.Patient, bodies ...string) {
			t.Helper()
			for _, body := range bodies {
				if err := storetest.AddRecords(t.Context(), o, patient, storetest.Record(t, patient, body)); err != nil {
					t.Fatal(err)
				}
			}
		}
		add(p.ID, `{"data_type":"pain_scores","recorded_at":"2024-05-01","value":5}`, `{"data_type":"pain_scores","recorded_at":"2022-05-01","value":6}`,
			`{"data_type":"medications","recorded_at":"2024-05-01","value":{"name":"oxycodone"}}`, `{"data_type":"notes","recorded_at":"2024-05-01","value":{"text":"x"}}`,
			`{"data_type":"procedures","recorded_at":"2023-05-01","value":{"procedure_type":"cbt"}}`)
		add(other, `{"data_type":"pain_scores","recorded_at":"2023-05-01","value":9}`, `{"data_type":"procedures","recorded_at":"2023-05-01","value":{"procedure_type":"other"}}`)
		want := storetest.Must[summary.Chart](t)(o.Chart(t.Context(), p.ID))
		if want.Patient != p || len(want.Series.Scores) != 2 || want.Series.Scores[0].Value != 6 || len(want.Records) != 2 || want.Records[0].Type != pain.TypeProcedures {
			t.Errorf("%+v", want)
		}
		storetest.Exec(t, s, `UPDATE patient_series SET bytes = $1 WHERE year = 2022`, []byte("spoilt"))
		if got := storetest.Must[summary.Chart](t)(o.Chart(t.Context(), p.ID)); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if _, err := o.Chart(t.Context(), id.New[id.PatientKind](time.Now())); !fault.Is(err, fault.NotFound) {
			t.Errorf("a patient who is not there: %v", err)
		}
		stranger := storetest.Client(t, s, "Stranger")
		if _, err := s.For(&stranger).Chart(t.Context(), p.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("another organisation's patient: %v", err)
		}
	})
}
