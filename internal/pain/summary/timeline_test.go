package summary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain/alert"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// An open prescription has its dose on the days on which it is assumed.
func TestAssumedDays(t *testing.T) {
	// 20 mg x 4.7 = 94 MME from March 1st; 10 mg x 4.7 = 47 from May 1st, when it
	// was replaced; stopped on June 11th. March 31 + April 30 = 61 days of 94, May
	// 31 + June 10 = 41 days of 47, and the first of each is certain.
	c := chart(t,
		medicineLine("2024-03-01", `{"name":"methadone","dose":20,"dose_unit":"mg","frequency":"QD"}`),
		medicineLine("2024-05-01", `{"name":"methadone","dose":10,"dose_unit":"mg","frequency":"QD"}`),
		medicineLine("2024-06-11", `{"name":"methadone","status":"stopped"}`))
	on := of(t, c, "2024-06-10").MME
	is(t, "timeline", on.Timeline, `[{"from":"2024-03-01","to":"2024-03-01","mme":94,"incomplete":false,"assumed":false},{"from":"2024-03-02","to":"2024-04-30","mme":94,"incomplete":false,"assumed":true},`+
		`{"from":"2024-05-01","to":"2024-05-01","mme":47,"incomplete":false,"assumed":false},{"from":"2024-05-02","to":"2024-06-10","mme":47,"incomplete":false,"assumed":true}]`)
	// (61 x 94 + 41 x 47) / 102 = 7661 / 102 = 75.1
	is(t, "figures", []any{on.Current, on.CurrentBand, on.Peak, on.PeakOverlapped, on.Average, on.CoveredDays, on.AssumedDays, on.DaysFrom50, on.DaysFrom90, on.Incomplete},
		`[47,"20-\u003c50",94,94,75.1,102,100,61,61,false]`)
	after := of(t, c, "2024-06-11")
	is(t, "stopped", []any{after.MME.Current, after.MME.CurrentBand, after.MME.Peak, len(after.Medications.Current)}, `[0,"0",94,0]`)
	before := of(t, c, "2024-04-30")
	is(t, "flag", flagNamed(t, before, "ge_90"), `{"flag":"ge_90","active":true,"since":"2024-03-01","basis":{"assumed":true,"incomplete":false,"mme":94,"out_of_guideline_scope":false,"since_incomplete":false,"threshold":90,"unclassified":[]}}`)
	is(t, "medicine", []any{before.Medications.Current[0].Assumed, before.Medications.Current[0].AssumedUntil, before.Medications.Current[0].EndDate}, `[true,"2024-05-29",null]`)
}

// An early refill does not double the dose.
func TestEarlyRefill(t *testing.T) {
	// 30 mg x 60 / 30 = 60 MME, for 30 days from January 1st, and again from the
	// 25th: on the 25th to the 30th both would be 120.
	fill := `{"name":"morphine","strength":30,"strength_unit":"mg","quantity":60,"days_supply":30}`
	c := chart(t, medicineLine("2024-01-01", fill), medicineLine("2024-01-25", fill))
	m := of(t, c, "2024-03-30").MME
	is(t, "timeline", m.Timeline, `[{"from":"2024-01-01","to":"2024-02-29","mme":60,"incomplete":false,"assumed":false}]`) // 60 days: 31 + 29
	is(t, "figures", []any{m.Peak, m.PeakOverlapped, m.Average, m.CoveredDays, m.AssumedDays, m.DaysFrom50, m.DaysFrom90}, `[60,120,60,60,0,60,0]`)
	on := of(t, c, "2024-01-27")
	is(t, "on a day of both", []any{on.MME.Current, on.MME.Peak, on.MME.PeakOverlapped, len(on.Medications.Current), on.Medications.Current[0].StartDate, on.Medications.Current[0].EndDate},
		`[60,60,120,1,"2024-01-01","2024-01-30"]`)
	later := of(t, c, "2024-01-31")
	is(t, "on the next", []any{later.MME.Current, later.Medications.Current[0].StartDate, later.Medications.Current[0].FirstStartDate, later.Medications.Current[0].EndDate}, `[60,"2024-01-25","2024-01-01","2024-02-29"]`)
}

// TestFiguresAgree compares all figures about a patient with the timeline, day
// by day, for random histories.
func TestFiguresAgree(t *testing.T) {
	const day = drug.Day(19904) // 2024-06-30
	rapid.Check(t, func(rt *rapid.T) {
		d := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 17))
		pick := func(words ...string) string { return words[d.IntN(len(words))] }
		var lines []string
		for range 1 + d.IntN(9) {
			start := day - drug.Day(d.IntN(450))
			what := pick(`"name":"morphine","strength":15,"strength_unit":"mg","quantity":60`, `"name":"morphine","strength":30,"strength_unit":"mg","quantity":60`,
				`"name":"morphine","dose":20,"dose_unit":"mg","frequency":"BID"`, `"name":"morphine"`, `"name":"lorazepam"`, `"name":"Zzyzx"`, `"name":"buprenorphine"`)
			length := pick(`,"days_supply":30`, `,"days_supply":30`, `,"days_supply":60`, ``, ``, `,"end_date":"`+date(start+drug.Day(d.IntN(60)))+`"`)
			lines = append(lines, medicineLine(date(start), `{`+what+length+pick(``, ``, `,"status":"active"`, `,"status":"stopped"`, `,"status":"completed"`)+`}`))
		}
		slices.Sort(lines)
		c := chart(t, lines...)
		window := drug.Span{First: day - drug.Day(d.IntN(400)), Last: day}
		s, err := Over(c, window, now)
		if err != nil {
			t.Fatal(err)
		}
		m := &s.MME
		var peak, total float64
		covered, from50, from90, assumed := 0, 0, 0, 0
		var last *Run
		for at := window.First; at <= window.Last; at++ {
			last = nil
			for i := range m.Timeline {
				if r := &m.Timeline[i]; r.From <= date(at) && date(at) <= r.To {
					last = r
				}
			}
			if last == nil {
				continue
			}
			if last.Assumed {
				assumed++
			}
			if last.MME == nil {
				continue
			}
			covered++
			total += *last.MME
			peak = max(peak, *last.MME)
			if *last.MME >= 50 {
				from50++
			}
			if *last.MME >= 90 {
				from90++
			}
		}
		if m.CoveredDays != covered || m.DaysFrom50 != from50 || m.DaysFrom90 != from90 || m.AssumedDays != assumed {
			rt.Fatalf("%d days covered, %d and %d high, %d assumed; by the timeline %d, %d, %d, %d", m.CoveredDays, m.DaysFrom50, m.DaysFrom90, m.AssumedDays, covered, from50, from90, assumed)
		}
		if covered > 0 && (m.PeakOverlapped == nil || *m.Peak != peak || math.Abs(*m.Average-total/float64(covered)) > 0.051 || *m.PeakOverlapped < peak) {
			rt.Fatalf("peak %v, overlapped %v, average %v; by the timeline %v and %v", *m.Peak, *m.PeakOverlapped, *m.Average, peak, total/float64(covered))
		}
		switch {
		case last == nil && (m.Current == nil || *m.Current != 0 || *m.CurrentBand != "0"):
			rt.Fatalf("nothing is taken, and the current dose is %v", m.Current)
		case last != nil && shown(t, m.Current) != shown(t, last.MME):
			rt.Fatalf("the dose of the day is %s, and the current one %s", shown(t, last.MME), shown(t, m.Current))
		}
		if m.Current != nil && m.Peak != nil && *m.Current > *m.Peak {
			rt.Fatalf("%v is current, and the peak %v", *m.Current, *m.Peak)
		}
		opioids, err := OpioidsOver(c, window)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shown(t, []any{shownDose(opioids.MME), shownDose(opioids.Peak), shownDose(opioids.PeakOverlapped), shownDose(opioids.Average), opioids.Band, opioids.AssumedDays, opioids.Incomplete}),
			shown(t, []any{m.Current, m.Peak, m.PeakOverlapped, m.Average, m.CurrentBand, m.AssumedDays, m.Incomplete}); got != want {
			rt.Fatalf("the worklist says %s, the summary %s", got, want)
		}
		if listed := *decide(opioids.Exposed == nil || *opioids.Exposed, false); MayTakeOpioid(&c.Series, window) != listed {
			rt.Fatalf("it is listed: %v", !listed)
		}
		checkAlerts(rt, s, c.Series.Medications, day)
	})
}

// checkAlerts compares the alerts of a day without earlier alerts with the
// flags of the day.
func checkAlerts(t *rapid.T, s Summary, medications []series.Medication, day drug.Day) {
	var none, now alert.Watched
	now.Add(medications)
	stands, _ := alert.Judge(alert.Standing{Day: day}, &none, &now, day)
	for _, threshold := range []int{50, 90} {
		for _, f := range s.Flags {
			if f.Flag == fmt.Sprintf("ge_%d", threshold) && (f.Active != nil && *f.Active) != (stands.Level >= threshold) {
				t.Fatalf("%s is %v, and alerts stand at %d", f.Flag, f.Active, stands.Level)
			}
			if f.Flag == "opioid_benzo_overlap" && f.Basis["current"] != stands.Overlap {
				t.Fatalf("the overlap is %v, and alerts stand at %v", f.Basis["current"], stands.Overlap)
			}
		}
	}
}
