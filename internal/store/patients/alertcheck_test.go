package patients_test

import (
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Stored alert standings that do not match the records are detected, whichever
// way they are wrong, and repaired on request. Alerts missed because of them
// are then raised.
//
//test:norace
func TestCheckFindsWrongStandings(t *testing.T) {
	const lost, differs, unaccounted = "the alert state that its prescriptions require is missing", "the stored alert state does not match the records", "an alert is stored that no record explains"
	for _, tt := range []struct {
		name, tamper, want string
		alerts             int // of the patient after the repair
	}{
		{"lost", `DELETE FROM alert_state WHERE patient_no = 1`, lost, 2},
		{"without its level", `UPDATE alert_state SET level = 0 WHERE patient_no = 1`, differs, 2},
		{"of a lower level", `UPDATE alert_state SET level = 50 WHERE patient_no = 1`, differs, 2},
		{"without the next start", `UPDATE alert_state SET next_day = NULL WHERE patient_no = 1`, differs, 1},
		{"of another next start", `UPDATE alert_state SET next_day = next_day + 1 WHERE patient_no = 1`, differs, 1},
		{"with an overlap that never was", `UPDATE alert_state SET overlap = 1 WHERE patient_no = 1`, unaccounted, 2},
		{"with a level that never was", `UPDATE alert_state SET level = 90 WHERE patient_no = 2`, unaccounted, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
				s := all[0].System()
				check := func(repair bool) ([]string, patients.Repaired) {
					t.Helper()
					problems, repaired, err := s.CheckSeries(t.Context(), repair, func(string, int64, int64) {})
					if err != nil {
						t.Fatal(err)
					}
					return problems, repaired
				}
				patient := storetest.AddPatient(t, o, "High").ID
				other := storetest.AddPatient(t, o, "Low").ID
				for _, add := range []error{
					storetest.AddRecordsAt(t.Context(), o, c.Now(), patient, morphine(t, c, patient, 95, c.Now()), morphine(t, c, patient, 20, c.Now().Add(5*day))),
					storetest.AddRecordsAt(t.Context(), o, c.Now(), other, morphine(t, c, other, 60, c.Now())),
				} {
					if add != nil {
						t.Fatal(add)
					}
				}
				if problems, _ := check(false); len(problems) != 0 {
					t.Fatalf("before: %q", problems)
				}
				storetest.Exec(t, all[0], tt.tamper)
				if problems, _ := check(false); len(problems) != 1 || !strings.Contains(problems[0], tt.want) {
					t.Fatalf("found %q", problems)
				}
				if problems, repaired := check(true); len(problems) != 0 || repaired != (patients.Repaired{Standings: 1}) {
					t.Errorf("left %q, repaired %+v", problems, repaired)
				}
				if problems, repaired := check(true); len(problems) != 0 || repaired != (patients.Repaired{}) {
					t.Errorf("then left %q, repaired %+v", problems, repaired)
				}
				about := patient
				if strings.HasSuffix(tt.tamper, "= 2") {
					about = other
				}
				if got := alertsOf(t, all[0], o, about, 0); len(got) != tt.alerts {
					t.Errorf("alerted %q", got)
				}
			})
		})
	}
}

// A standing that is due at the next sweep is not wrong yet, nor is what a
// supply that ran out or was withdrawn has left.
func TestCheckLetsStandingsBe(t *testing.T) {
	eachClocked(t, func(t *testing.T, c *storetest.Clock, all []*store.Store, o store.Org) {
		patients := due(t, c, o, 2)
		clean := func(when string) {
			t.Helper()
			if problems, _, err := all[0].System().CheckSeries(t.Context(), false, func(string, int64, int64) {}); len(problems) != 0 || err != nil {
				t.Errorf("%s: %q, %v", when, problems, err)
			}
		}
		clean("before they begin")
		c.Pass(day)
		clean("due and not swept")
		if err := all[0].System().SweepAlerts(t.Context()); err != nil {
			t.Fatal(err)
		}
		clean("swept")
		c.Pass(10 * day) // the day after the last
		rec := morphine(t, c, patients[0], 10, c.Now())
		if err := storetest.AddRecordsAt(t.Context(), o, c.Now(), patients[0], rec); err != nil {
			t.Fatal(err)
		}
		clean("run out, and judged again")
		if _, err := storetest.CorrectAt(t.Context(), o, c.Now(), patients[0], rec.ID, `{"entered_in_error":true,"reason":"x"}`); err != nil {
			t.Fatal(err)
		}
		clean("taken back")
		if got := alertsOf(t, all[0], o, patients[0], 0); !slices.Equal(got, []string{"2024-12-21 high_dose_opioid 50"}) {
			t.Errorf("alerted %q", got)
		}
	})
}
