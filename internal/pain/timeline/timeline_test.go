package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/strictjson"
)

// prescribed makes prescriptions from lines "DAY VALUE", the day being that of
// the record.
func prescribed(t *testing.T, lines ...string) (list []series.Medication) {
	t.Helper()
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for _, line := range lines {
		day, value, _ := strings.Cut(line, " ")
		body, err := strictjson.Parse(fmt.Appendf(nil, `{"recorded_at":%q,"data_type":"medications","value":{%s}}`, day, value))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var fields fault.Fields
		rec := pain.NewRecord(body, &fields, pain.Intake{NewID: func() id.Record { return id.New[id.RecordKind](now) }, Now: now})
		if err := fields.Err(); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		v, err := pain.ReadMedication(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := series.MedicationOf(&v, rec.RecordedAt)
		if !ok {
			t.Fatalf("no day is covered: %s", line)
		}
		list = append(list, m)
	}
	return list
}

func days(s drug.Span) string {
	if s.First > s.Last {
		return "none"
	}
	return pain.DateOfDay(s.First).String()[5:] + " to " + pain.DateOfDay(s.Last).String()[5:]
}

const (
	// 10 mg x 60 / 30 days x 1.5 = 30 MME a day.
	oxy10 = `"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":60,"days_supply":30`
	// 5 mg x 60 / 30 days x 1.5 = 15 MME.
	oxy5    = `"name":"oxycodone","strength":5,"strength_unit":"mg","quantity":60,"days_supply":30`
	lasting = `"name":"OxyContin 20 mg","dose":1,"dose_unit":"tablet","doses_per_day":2`
	rescue  = `"name":"oxycodone IR 5 mg","dose":1,"dose_unit":"tablet","doses_per_day":4`
	// 10 mg x 2 x 1.5 = 30 MME, of no known strength.
	anyOxy = `"name":"oxycodone","dose":10,"dose_unit":"mg","frequency":"BID","days_supply":30`
	// The same without a supply: open.
	open    = `"name":"oxycodone","dose":10,"dose_unit":"mg","frequency":"BID"`
	open20  = `"name":"oxycodone","dose":20,"dose_unit":"mg","frequency":"BID"`
	stopped = `,"status":"stopped"`
)

// Each case is what is prescribed, and the days on which each counts. 2023 has
// 28 days in February, and is not 2024.
func TestDays(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		// Open ones. January has 31 days, February 28: January 1st is day 1,
		// February 28th day 59, March 31st day 90.
		{"open", []string{"2023-01-01 " + open}, []string{"01-01 to 03-31"}},
		{"open, of another status", []string{"2023-01-01 " + open + `,"status":"unknown"`}, []string{"01-01 to 03-31"}},
		{"replaced the day before the next begins", []string{"2023-01-01 " + open, "2023-02-10 " + open20}, []string{"01-01 to 02-09", "02-10 to 05-10"}}, // 19+31+30+10 = 90
		{"replaced by a supply", []string{"2023-01-01 " + open, "2023-02-10 " + oxy10}, []string{"01-01 to 02-09", "02-10 to 03-11"}},
		{"renewed on day 90: no gap", []string{"2023-01-01 " + open, "2023-03-31 " + open}, []string{"01-01 to 03-30", "03-31 to 06-28"}}, // 1+30+31+28
		{"renewed after 90 days: a gap", []string{"2023-01-01 " + open, "2023-04-02 " + open}, []string{"01-01 to 03-31", "04-02 to 06-30"}},
		{"both from the same day: two prescriptions", []string{"2023-01-01 " + open, "2023-01-01 " + open20}, []string{"01-01 to 03-31", "01-01 to 03-31"}},
		{"another route replaces nothing", []string{"2023-01-01 " + open, "2023-02-10 " + open + `,"route":"rectal"`}, []string{"01-01 to 03-31", "02-10 to 05-10"}},
		{"another ingredient replaces nothing", []string{"2023-01-01 " + open, `2023-02-10 "name":"morphine"`}, []string{"01-01 to 03-31", "02-10 to 05-10"}},
		{"what is not understood, by its name", []string{`2023-01-01 "name":"Zzyzx"`, `2023-02-10 "name":"zzyzx"`, `2023-02-10 "name":"Qorvexin"`}, []string{"01-01 to 02-09", "02-10 to 05-10", "02-10 to 05-10"}},

		// Stops.
		{"stopped, from its start to the day before the record", []string{"2023-02-20 " + open + `,"start_date":"2023-01-01"` + stopped}, []string{"01-01 to 02-19"}},
		{"completed long after", []string{"2023-09-20 " + open + `,"start_date":"2023-01-01","status":"completed"`}, []string{"01-01 to 03-31"}},
		{"stopped, and only its first day is known", []string{"2023-01-01 " + open + stopped}, []string{"01-01 to 01-01"}},
		{"orders that were completed count on their days", []string{"2023-01-01 " + open + `,"status":"completed"`, "2023-02-01 " + open + `,"status":"completed"`}, []string{"01-01 to 01-01", "02-01 to 02-01"}},
		{"a new record says that it was stopped", []string{"2023-01-01 " + open, `2023-02-10 "name":"oxycodone"` + stopped}, []string{"01-01 to 02-09", "none"}},
		{"and on which day", []string{"2023-01-01 " + open, `2023-02-12 "name":"oxycodone","end_date":"2023-02-10"` + stopped}, []string{"01-01 to 02-10", "none"}},
		{"on the day of the record", []string{"2023-01-01 " + open, `2023-02-10 "name":"oxycodone","end_date":"2023-02-10"` + stopped}, []string{"01-01 to 02-10", "none"}},
		{"it was put on hold, and taken up again", []string{"2023-01-01 " + open, `2023-02-10 "name":"oxycodone","status":"on-hold"`, "2023-03-01 " + open}, []string{"01-01 to 02-09", "none", "03-01 to 05-29"}},
		{"stopped with nothing to stop: it was taken until then", []string{`2023-02-12 "name":"oxycodone","end_date":"2023-02-10"` + stopped}, []string{"02-10 to 02-10"}},
		{"stopped after it had run out", []string{"2023-01-01 " + oxy10, `2023-03-10 "name":"oxycodone"` + stopped}, []string{"01-01 to 01-30", "none"}},
		{"a supply is stopped", []string{"2023-01-01 " + oxy10, `2023-01-11 "name":"oxycodone"` + stopped}, []string{"01-01 to 01-10", "none"}},
		{"a stop of another strength stops nothing", []string{"2023-01-01 " + oxy10, `2023-01-11 "name":"oxycodone","strength":5,"strength_unit":"mg"` + stopped}, []string{"01-01 to 01-30", "01-11 to 01-11"}},
		{"a stop of another medicine stops nothing", []string{"2023-01-01 " + open, `2023-02-10 "name":"morphine"` + stopped}, []string{"01-01 to 03-31", "02-10 to 02-10"}},
		{"what begins on the day of a stop goes on", []string{"2023-01-01 " + open, `2023-02-10 "name":"oxycodone","strength":5,"strength_unit":"mg"` + stopped, "2023-02-10 " + oxy10}, []string{"01-01 to 02-09", "none", "02-10 to 03-11"}},
		{"recorded again as stopped", []string{"2023-01-01 " + open, "2023-02-12 " + open + `,"start_date":"2023-01-01","end_date":"2023-02-10"` + stopped}, []string{"none", "01-01 to 02-10"}},
		{"and it was known for longer than is assumed", []string{"2023-01-01 " + open, "2023-08-01 " + open + `,"start_date":"2023-01-01","end_date":"2023-07-31"` + stopped}, []string{"none", "01-01 to 07-31"}},
		{"a supply recorded again as stopped, nobody says when", []string{"2023-01-01 " + anyOxy, "2023-03-12 " + open + `,"start_date":"2023-01-01"` + stopped}, []string{"none", "01-01 to 01-30"}},
		{"two doses from one day, one stopped", []string{"2023-01-01 " + open20, "2023-02-12 " + open + `,"start_date":"2023-01-01","end_date":"2023-02-10"` + stopped}, []string{"01-01 to 03-31", "01-01 to 02-10"}},
		{"a supply corrected to stopped, with its end", []string{"2023-01-01 " + oxy10 + `,"end_date":"2023-01-12"` + stopped}, []string{"01-01 to 01-12"}},
		{"on the day of the record", []string{"2023-01-12 " + oxy10 + `,"start_date":"2023-01-01"` + stopped}, []string{"01-01 to 01-11"}},
		{"nobody says when: its supply counts", []string{"2023-01-01 " + oxy10 + stopped}, []string{"01-01 to 01-30"}},

		// Refills. A supply of 30 days from January 1st lasts until the 30th.
		{"on time", []string{"2023-01-01 " + oxy10, "2023-01-31 " + oxy10}, []string{"01-01 to 01-30", "01-31 to 03-01"}}, // 1+28+1 = 30
		{"six days early", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10}, []string{"01-01 to 01-30", "01-31 to 03-01"}},
		{"late", []string{"2023-01-01 " + oxy10, "2023-02-05 " + oxy10}, []string{"01-01 to 01-30", "02-05 to 03-06"}},
		{"twice on one day: 30 days are carried", []string{"2023-01-01 " + oxy10, "2023-01-01 " + oxy10}, []string{"01-01 to 01-30", "01-31 to 03-01"}},
		// On January 9th, 9-31 and February 1-28 are left of the first two, 23+29
		// days up to March 1st; 30 of them are carried, up to February 7th.
		{"a chain that adds up", []string{"2023-01-01 " + oxy10, "2023-01-05 " + oxy10, "2023-01-09 " + oxy10}, []string{"01-01 to 01-30", "01-31 to 02-07", "02-08 to 03-09"}},
		// Of three on one day the second is carried wholly by the third: 30 days,
		// January 1-30, are at hand, and what comes after them is dropped.
		{"three on one day", []string{"2023-01-01 " + oxy10, "2023-01-01 " + oxy10, "2023-01-01 " + oxy10}, []string{"01-01 to 01-30", "none", "01-31 to 03-01"}},
		// On January 15th 76 of 90 days are left; 30 are carried, up to February 13th.
		{"a long supply", []string{"2023-01-01 " + strings.Replace(oxy10, "30", "90", 1), "2023-01-15 " + oxy10}, []string{"01-01 to 02-13", "02-14 to 03-15"}},
		{"another strength: both count", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy5}, []string{"01-01 to 01-30", "01-25 to 02-23"}},
		{"no known strength: both count", []string{"2023-01-01 " + anyOxy, "2023-01-25 " + anyOxy}, []string{"01-01 to 01-30", "01-25 to 02-23"}},
		{"an end cuts what is carried", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10 + `,"end_date":"2023-02-05"`}, []string{"01-01 to 01-30", "01-31 to 02-05"}},
		{"an end after the supply", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10 + `,"end_date":"2023-02-26"`}, []string{"01-01 to 01-30", "01-31 to 02-26"}},
		{"an end before it could begin", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10 + `,"end_date":"2023-01-28"`}, []string{"01-01 to 01-30", "none"}},
		{"the end of the first", []string{"2023-01-01 " + oxy10 + `,"end_date":"2023-01-20"`, "2023-01-15 " + oxy10}, []string{"01-01 to 01-20", "01-21 to 02-19"}},
		{"a stop cuts what is carried", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10, `2023-02-06 "name":"oxycodone"` + stopped}, []string{"01-01 to 01-30", "01-31 to 02-05", "none"}},
		{"a stop before it could begin", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10, `2023-01-28 "name":"oxycodone"` + stopped, "2023-03-01 " + oxy10}, []string{"01-01 to 01-27", "none", "none", "03-01 to 03-30"}},
		{"the fill is stopped", []string{"2023-01-01 " + oxy10, "2023-01-25 " + oxy10 + `,"end_date":"2023-01-27"` + stopped}, []string{"01-01 to 01-27", "none"}},
		// One dose is stopped, and on the same day another begins.
		{"stopped, and another begins", []string{"2023-01-01 " + oxy10, `2023-01-15 "name":"oxycodone"` + stopped, "2023-01-15 " + oxy5}, []string{"01-01 to 01-14", "none", "01-15 to 02-13"}},
		{"stopped, and the same begins anew", []string{"2023-01-01 " + open, `2023-02-15 "name":"oxycodone"` + stopped, "2023-02-15 " + open20}, []string{"01-01 to 02-14", "none", "02-15 to 05-15"}},
		{"begun and stopped on one day, long after another", []string{"2023-01-01 " + oxy10, "2023-03-01 " + oxy10, `2023-03-01 "name":"oxycodone"` + stopped}, []string{"01-01 to 01-30", "none", "none"}},
		// OxyContin lasts; oxycodone 5 mg tablets are for pain that breaks through it.
		{"extended and immediate, both open", []string{"2023-01-01 " + lasting, "2023-01-05 " + rescue}, []string{"01-01 to 03-31", "01-05 to 04-04"}},
		{"extended, and a few days of immediate", []string{"2023-01-01 " + lasting, `2023-01-05 "name":"oxycodone 5 mg tablet","quantity":12,"days_supply":3`}, []string{"01-01 to 03-31", "01-05 to 01-07"}},
		{"less of extended", []string{"2023-01-01 " + lasting, "2023-01-15 " + strings.Replace(lasting, "20", "10", 1)}, []string{"01-01 to 01-14", "01-15 to 04-14"}},
		{"the same strength, written without its release", []string{"2023-01-01 " + lasting, `2023-01-15 "name":"oxycodone 20 mg tablet","quantity":60,"days_supply":30`}, []string{"01-01 to 01-14", "01-15 to 02-13"}},
		{"nobody says how it is released", []string{"2023-01-01 " + lasting, "2023-01-15 " + open}, []string{"01-01 to 01-14", "01-15 to 04-14"}},
		{"a stop of the brand", []string{"2023-01-01 " + lasting, "2023-01-01 " + rescue, `2023-01-15 "name":"OxyContin"` + stopped}, []string{"01-01 to 01-14", "01-01 to 03-31", "none"}},
		{"a stop of the other", []string{"2023-01-01 " + lasting, "2023-01-01 " + rescue, `2023-01-15 "name":"Percocet"` + stopped}, []string{"01-01 to 03-31", "01-01 to 01-14", "none"}},
		{"a stop of both", []string{"2023-01-01 " + lasting, "2023-01-01 " + rescue, `2023-01-15 "name":"oxycodone"` + stopped}, []string{"01-01 to 01-14", "01-01 to 01-14", "none"}},
		// One tablet in the morning and two at night, prescribed on one day: 15 + 30 MME.
		{"different doses on one day", []string{"2023-01-01 " + oxy10, "2023-01-01 " + strings.Replace(oxy10, "60", "30", 1)}, []string{"01-01 to 01-30", "01-01 to 01-30"}},
		{"different doses on one day, refilled early", []string{"2023-01-01 " + oxy10, "2023-01-01 " + strings.Replace(oxy10, "60", "30", 1), "2023-01-25 " + oxy10}, []string{"01-01 to 01-30", "01-01 to 01-30", "01-25 to 02-23"}},
		{"an end without supply carries nothing", []string{"2023-01-01 " + oxy10, `2023-01-25 "name":"oxycodone","strength":10,"strength_unit":"mg","end_date":"2023-02-05"`}, []string{"01-01 to 01-30", "01-25 to 02-05"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := prescribed(t, c.lines...)
			recorded := slices.Clone(list)
			Lay(list)
			var got []string
			for i := range list {
				got = append(got, days(list[i].Span))
				if list[i].Start != recorded[i].First {
					t.Errorf("it starts on %s", pain.DateOfDay(list[i].Start))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The dose of what was recorded again without one is that of the first record.
func TestDoseOfWhatWasRecordedAgain(t *testing.T) {
	list := prescribed(t, "2023-01-01 "+open, `2023-02-12 "name":"oxycodone","start_date":"2023-01-01","end_date":"2023-02-10"`+stopped)
	Lay(list)
	if m := list[1]; m.MME != 30 || m.Reason != 0 || days(m.Span) != "01-01 to 02-10" || days(list[0].Span) != "none" {
		t.Errorf("%+v", list)
	}
}

func TestAssumedAndOverlapped(t *testing.T) {
	list := prescribed(t, "2023-01-01 "+oxy10, "2023-01-25 "+oxy10, "2023-04-01 "+open, `2023-04-20 "name":"oxycodone"`+stopped)
	var p Planner
	p.Lay(list)
	var got []string
	for i := range list {
		assumed := "certain"
		if s, ok := Assumed(&list[i]); ok {
			assumed = days(s)
		}
		got = append(got, days(list[i].Span)+"; "+days(p.Overlapped[i])+"; "+assumed)
	}
	want := []string{"01-01 to 01-30; 01-01 to 01-30; certain", "01-31 to 03-01; 01-25 to 02-23; certain", "04-01 to 04-19; 04-01 to 04-19; 04-02 to 04-19", "none; none; certain"}
	if !slices.Equal(got, want) || !p.Shifted {
		t.Errorf("shifted %v\ngot  %q\nwant %q", p.Shifted, got, want)
	}
	list = prescribed(t, "2023-01-01 "+oxy10, "2023-01-31 "+oxy10, `2023-02-10 "name":"oxycodone"`+stopped)
	if p.Lay(list); p.Shifted || days(p.Overlapped[1]) != "01-31 to 02-09" {
		t.Errorf("shifted %v, %q", p.Shifted, days(p.Overlapped[1]))
	}
}

// A day does not depend on what begins after it, nor on the order of the list.
func TestOnlyThePastCounts(t *testing.T) {
	all := prescribed(t, "2023-01-01 "+open, "2023-01-05 "+oxy10, "2023-01-20 "+oxy10, "2023-01-25 "+oxy5, `2023-02-10 "name":"oxycodone"`+stopped, "2023-02-12 "+oxy10, "2023-02-13 "+oxy10,
		"2023-02-14 "+open20, "2023-02-25 "+open, `2023-03-10 "name":"oxycodone","end_date":"2023-03-08"`+stopped)
	whole := slices.Clone(all)
	Lay(whole)
	for day := all[0].First; day < all[0].First+150; day++ {
		var begun []series.Medication
		for _, m := range all {
			if m.First <= day {
				begun = append(begun, m)
			}
		}
		slices.Reverse(begun)
		Lay(begun)
		on := func(list []series.Medication) (doses []string) {
			for _, m := range list {
				if m.First <= day && day <= m.Last {
					text, _ := json.Marshal([]any{m.Start, m.MME})
					doses = append(doses, string(text))
				}
			}
			slices.Sort(doses)
			return doses
		}
		if got, want := on(begun), on(whole); !slices.Equal(got, want) {
			t.Errorf("%s: %q, and with all %q", pain.DateOfDay(day), got, want)
		}
	}
}

func TestNothingIsAllocatedForAPatient(t *testing.T) {
	list := prescribed(t, "2023-01-01 "+open, "2023-01-05 "+oxy10, "2023-01-20 "+oxy10, `2023-02-10 "name":"oxycodone"`+stopped)
	again := make([]series.Medication, len(list))
	var p Planner
	p.Lay(list)
	if n := testing.AllocsPerRun(100, func() { copy(again, list); p.Lay(again) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
