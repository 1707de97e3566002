package figure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Prescriptions that follow one another are one course, which begins once.
func TestCourses(t *testing.T) {
	span := func(first, last drug.Day) course { return course{Span: drug.Span{First: first, Last: last}} }
	open := func(first drug.Day) course {
		return course{Span: drug.Span{First: first, Last: first + 89}, going: true}
	}
	for _, c := range []struct {
		name string
		list []course
		want []course
	}{
		{"one", []course{span(0, 29)}, []course{span(0, 29)}},
		{"refilled in time", []course{span(30, 59), span(0, 29)}, []course{span(0, 59)}},
		{"a fortnight late", []course{span(0, 29), span(44, 59)}, []course{span(0, 59)}},
		{"later", []course{span(0, 29), span(45, 59)}, []course{span(0, 29), span(45, 59)}},
		{"within another", []course{span(0, 90), span(10, 20)}, []course{span(0, 90)}},
		{"going on", []course{open(0), span(104, 110)}, []course{span(0, 110)}},
		{"a supply, then no end", []course{span(0, 29), open(30)}, []course{{Span: drug.Span{First: 0, Last: 119}, going: true}}},
		{"a supply within", []course{open(0), span(10, 20)}, []course{open(0)}},
		{"assumed no longer", []course{open(0), span(400, 410)}, []course{open(0), span(400, 410)}},
	} {
		if got := joined(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The marks of a chart follow the timeline, as the list of medicines does.
func TestEventsFollowTheTimeline(t *testing.T) {
	const open, supply = `"name":"morphine 15 mg","dose":1,"dose_unit":"tablet","doses_per_day":2`, `"name":"morphine 15 mg","quantity":60,"days_supply":30`
	for _, c := range []struct {
		name    string
		records []string
		want    string
	}{
		{"stopped by another record", []string{medicine("2024-01-10", open), medicine("2024-02-20", `"name":"morphine","status":"stopped"`)}, "2024-01-10 start morphine 15 mg, 2024-02-19 end morphine 15 mg"},
		{"an early refill, used up", []string{medicine("2024-01-01", supply), medicine("2024-01-25", supply)}, "2024-01-01 start morphine 15 mg, 2024-02-29 end morphine 15 mg"},
		{"not renewed", []string{medicine("2024-01-10", open)}, "2024-01-10 start morphine 15 mg"},
		{"replaced by another strength", []string{medicine("2024-01-10", open), medicine("2024-02-01", `"name":"morphine 30 mg","quantity":60,"days_supply":30`)},
			"2024-01-10 start morphine 15 mg, 2024-01-31 end morphine 15 mg, 2024-02-01 start morphine 30 mg, 2024-03-01 end morphine 30 mg"},
	} {
		list, err := events(recordsOf(t, c.records...), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 12, 31, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			kind := "start"
			if e.Kind == chart.Ended {
				kind = "end"
			}
			got = append(got, e.At.Format(time.DateOnly)+" "+kind+" "+e.Label)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

func medicine(at, value string) string {
	return `{"data_type":"medications","recorded_at":"` + at + `","value":{` + value + `}}`
}

func recordsOf(t *testing.T, bodies ...string) (list []pain.Record) {
	t.Helper()
	for _, body := range bodies {
		list = append(list, storetest.RecordAt(t, now, id.New[id.PatientKind](now), body))
	}
	return list
}
