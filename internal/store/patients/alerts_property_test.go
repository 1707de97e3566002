package patients_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

const day = 24 * time.Hour

// prescription is what the model needs of a stored medication.
type prescription struct {
	Derived struct {
		DrugClass   string  `json:"drug_class"`
		MMEPerDay   float64 `json:"mme_per_day"`
		CoveredFrom string  `json:"covered_from"`
		CoveredTo   string  `json:"covered_to"`
	} `json:"derived"`
}

func prescriptionOf(rec *pain.Record) (p prescription) {
	if rec.Type == pain.TypeMedications {
		if err := json.Unmarshal([]byte(rec.Value.JSON()), &p); err != nil {
			panic(err)
		}
	}
	return p
}

// concerns reports whether the prescription affects alerts.
func (p *prescription) concerns() bool {
	return p.Derived.CoveredFrom != "" && (p.Derived.DrugClass == "opioid" || p.Derived.DrugClass == "benzodiazepine")
}

// reading is the state of a day according to the records, computed
// independently of other days.
type reading struct {
	level   int
	overlap bool
}

func readDay(tb testing.TB, o store.Org, patientID id.Patient, on time.Time) reading {
	tb.Helper()
	date, mme := on.Format(time.DateOnly), 0.0
	taken := map[string]bool{}
	if _, err := o.Records(tb.Context(), patientID, patients.RecordQuery{Page: 1, Limit: 100_000}, func(rec *pain.Record) {
		p := prescriptionOf(rec)
		if p.concerns() && p.Derived.CoveredFrom <= date && date <= p.Derived.CoveredTo {
			taken[p.Derived.DrugClass] = true
			mme += p.Derived.MMEPerDay
		}
	}); err != nil {
		tb.Fatal(err)
	}
	r := reading{overlap: taken["opioid"] && taken["benzodiazepine"]}
	switch {
	case mme >= 90:
		r.level = 90
	case mme >= 50:
		r.level = 50
	}
	return r
}

// alertModel determines alerts by examining every day.
type alertModel struct {
	held   reading
	alerts []string
}

// look raises alerts for the state of a day that are not in effect yet.
func (m *alertModel) look(at time.Time, is reading) {
	on := at.Format(time.DateOnly)
	if is.level > m.held.level {
		m.alerts = append(m.alerts, fmt.Sprint(on, " high_dose_opioid ", is.level))
		m.held.level = is.level
	}
	if is.overlap && !m.held.overlap {
		m.alerts = append(m.alerts, fmt.Sprint(on, " opioid_benzodiazepine_overlap 0"))
		m.held.overlap = true
	}
}

// wrote handles a write that affects alerts; it ends those that the write
// lowered.
func (m *alertModel) wrote(at time.Time, was, is reading) {
	m.look(at, is)
	if is.level < was.level {
		m.held.level = is.level
	}
	if was.overlap && !is.overlap {
		m.held.overlap = false
	}
}

// ended ends the alerts that no longer applied at the end of the day.
func (m *alertModel) ended(is reading) {
	m.held.level = min(m.held.level, is.level)
	m.held.overlap = m.held.overlap && is.overlap
}

// medicineBodies are values; %s is the start, %d the days.
var medicineBodies = []string{
	`{"name":"morphine","dose":10,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"morphine","dose":25,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"morphine","dose":25,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"morphine","dose":45,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"oxycodone","dose":10,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"buprenorphine","start_date":%q,"days_supply":%d}`,
	`{"name":"lorazepam","start_date":%q,"days_supply":%d}`,
	`{"name":"lorazepam","start_date":%q,"days_supply":%d}`,
	`{"name":"morphine","status":"cancelled","dose":45,"dose_unit":"mg","frequency":"BID","start_date":%q,"days_supply":%d}`,
	`{"name":"ibuprofen","start_date":%q,"days_supply":%d}`,
}

// medicine draws a value that begins within a few days of now.
func medicine(t *rapid.T, now time.Time) string {
	start := now.Add(time.Duration(rapid.IntRange(-4, 4).Draw(t, "start")) * day)
	return fmt.Sprintf(rapid.SampledFrom(medicineBodies).Draw(t, "medicine"), start.Format(time.DateOnly), rapid.IntRange(1, 6).Draw(t, "days"))
}

// alertsOf lists the alerts of a patient after a position: day, kind,
// threshold.
func alertsOf(tb testing.TB, s *store.Store, o store.Org, patientID id.Patient, after journal.Pos) (alerts []string) {
	tb.Helper()
	storetest.Settle(tb, s)
	for {
		events, next, err := o.Events(tb.Context(), after, 1000)
		if err != nil {
			tb.Fatal(err)
		}
		if after = next; len(events) == 0 {
			return alerts
		}
		for _, e := range events {
			var a struct {
				Kind      string
				Patient   string `json:"patient_id"`
				Threshold int
			}
			if err := json.Unmarshal(e.Data, &a); err != nil {
				tb.Fatal(err)
			}
			if e.Type == "system.alert" && a.Patient == patientID.String() {
				alerts = append(alerts, fmt.Sprint(e.At.Format(time.DateOnly), " ", a.Kind, " ", a.Threshold))
			}
		}
	}
}

// eachClocked runs a test on two nodes of each engine, with one clock.
func eachClocked(t *testing.T, test func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		c := &storetest.Clock{At: time.Date(2024, 12, 20, 10, 30, 0, 0, time.UTC)}
		cfg.Now = c.Now
		all, who := storetest.Nodes(t, 2, func() *store.Store { return storetest.Start(t, storetest.Node(t, cfg)) })
		test(t, c, all, all[0].For(&who))
	})
}

// After any history of prescriptions, corrections and passing days, on two
// nodes that sweep at the same time, the alerts are those of a model that
// examines all records every day.
func TestAlertsAreThoseOfTheRecords(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		var pos journal.Pos
		alerted := 0
		rapid.Check(t, func(rt *rapid.T) {
			h := &clinicalHistory{tb: t, patient: storetest.AddPatient(t, o, "Alerts").ID}
			m := &alertModel{}
			read := func() reading { return readDay(t, o, h.patient, c.Now()) }
			for range rapid.IntRange(3, 16).Draw(rt, "acts") {
				was, concerns := read(), false
				switch rapid.SampledFrom([]string{"add", "add", "correct", "retract", "days", "days"}).Draw(rt, "act") {
				case "add":
					var batch []pain.Record
					for range rapid.IntRange(1, 3).Draw(rt, "records") {
						at := c.Now().Add(-rapid.SampledFrom([]time.Duration{0, 0, 3 * day, 400 * day}).Draw(rt, "ago"))
						rec := storetest.RecordAt(t, c.Now(), h.patient, fmt.Sprintf(`{"data_type":"medications","recorded_at":%q,"value":%s}`, at.Format(time.RFC3339), medicine(rt, c.Now())))
						p := prescriptionOf(&rec)
						concerns = concerns || p.concerns()
						batch = append(batch, rec)
					}
					if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), h.patient, batch...); err != nil {
						rt.Fatal(err)
					}
					h.keep(batch...)
				case "days":
					sweeps := rapid.Bool().Draw(rt, "sweeps")
					for range rapid.IntRange(1, 4).Draw(rt, "days") {
						m.ended(read())
						c.Pass(day)
						if sweeps {
							m.look(c.Now(), read())
							storetest.Together(t, len(all), func(i int) error { return all[i].System().SweepAlerts(t.Context()) })
						}
					}
				case "correct", "retract":
					old, ok := h.pick(rapid.IntRange(0, 20).Draw(rt, "pick"))
					if !ok {
						continue
					}
					body := `{"entered_in_error":true,"reason":"wrong patient"}`
					if rapid.Bool().Draw(rt, "replaced") {
						body = `{"value":` + medicine(rt, c.Now()) + `}`
					}
					done, err := storetest.CorrectAt(t.Context(), o, c.Now(), h.patient, old.ID, body)
					if fault.Is(err, fault.Conflict) {
						continue // it was corrected before
					}
					if err != nil {
						rt.Fatal(err)
					}
					p := prescriptionOf(&old)
					concerns = p.concerns()
					if done.Replaced {
						h.keep(done.New)
						p = prescriptionOf(&done.New)
						concerns = concerns || p.concerns()
					}
				}
				if concerns {
					m.wrote(c.Now(), was, read())
				}
			}
			if got := alertsOf(t, all[0], o, h.patient, pos); !slices.Equal(got, m.alerts) {
				rt.Fatalf("alerted %q\nwant    %q", got, m.alerts)
			}
			if problems, _, err := all[0].System().CheckSeries(t.Context(), false, func(string, int64, int64) {}); len(problems) != 0 || err != nil {
				rt.Fatalf("a check finds %q, %v", problems, err)
			}
			alerted += len(m.alerts)
			pos = head(t, o, pos)
		})
		least := 30
		if testing.Short() { // a fifth of the checks
			least = 5
		}
		if alerted < least {
			t.Errorf("only %d alerts were looked at", alerted)
		}
	})
}

// head returns the end of the journal.
func head(tb testing.TB, o store.Org, after journal.Pos) journal.Pos {
	tb.Helper()
	for {
		events, next, err := o.Events(tb.Context(), after, 1000)
		if err != nil {
			tb.Fatal(err)
		}
		if after = next; len(events) == 0 {
			return after
		}
	}
}
