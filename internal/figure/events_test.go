package figure

import (
	"slices"
	"testing"

	"anodyne/internal/pain/drug"
)

// Prescriptions that follow one another are one course, which begins once.
func TestCourses(t *testing.T) {
	span := func(first, last drug.Day) course { return course{Span: drug.Span{First: first, Last: last}} }
	open := func(first drug.Day) course { return course{Span: drug.Span{First: first, Last: first}, going: true} }
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
		{"going on", []course{open(0), span(400, 410)}, []course{{Span: drug.Span{First: 0, Last: 410}, going: true}}},
	} {
		if got := joined(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
