package drug

import (
	"math"
	"slices"
)

// Day is a calendar day, as the number of days since 1970-01-01.
type Day int32

// Span is a range of days, including both ends.
type Span struct{ First, Last Day }

// Days returns the number of days.
func (s Span) Days() int { return int(s.Last-s.First) + 1 }

// Within returns the part of s within window, and whether there is any.
func (s Span) Within(window Span) (_ Span, ok bool) {
	s = Span{max(s.First, window.First), min(s.Last, window.Last)}
	return s, s.First <= s.Last
}

// Cover returns the days covered by a prescription: its days of supply from
// the start, limited by the end. Either may be unknown (0, and hasEnd false).
// It is not ok if both are, or if the end is before the start.
func Cover(start Day, daysSupply int, end Day, hasEnd bool) (_ Span, ok bool) {
	s := Span{start, end}
	if daysSupply > 0 {
		s.Last = start + Day(daysSupply) - 1
		if hasEnd {
			s.Last = min(s.Last, end)
		}
	} else if !hasEnd {
		return Span{}, false
	}
	return s, s.First <= s.Last
}

// Course is the days covered by one opioid prescription with its daily MME, or
// by a medicine that may be an opioid, with [NotUnderstood].
type Course struct {
	Span
	MME    float64
	Reason Reason // why MME is unknown; otherwise ""
}

// Dose is the daily total of courses over a span of days.
type Dose struct {
	Span
	MME float64
}

// Timeline sums the courses with known MME for each calendar day. The
// resulting spans are in order and do not overlap; days without a course are
// omitted.
func Timeline(courses []Course) []Dose { return new(Meter).Timeline(courses) }

// Meter measures exposures, reusing its memory. The zero value is ready for
// use. It is not safe for concurrent use.
type Meter struct {
	inside []Course
	spans  []Span
	doses  []Dose
	// Where courses begin, and the days after their end.
	begins, ends []step
}

// step is the beginning of a course, or the day after its end.
type step struct {
	day Day
	mme float64
}

// Timeline is like the function [Timeline]. The doses are valid until the
// meter is used again.
func (m *Meter) Timeline(courses []Course) []Dose {
	begins, ends, doses := m.begins[:0], m.ends[:0], m.doses[:0]
	for i := range courses {
		if c := &courses[i]; c.Reason == "" {
			begins = append(begins, step{c.First, c.MME})
			ends = append(ends, step{c.Last + 1, c.MME})
		}
	}
	// Courses are mostly in order, and end in the order in which they begin.
	inOrder(begins)
	inOrder(ends)
	m.begins, m.ends = begins, ends
	var sum float64
	running := 0
	for len(ends) > 0 { // each beginning has an end after it
		day := ends[0].day
		if len(begins) > 0 {
			day = min(day, begins[0].day)
		}
		for ; len(begins) > 0 && begins[0].day == day; begins = begins[1:] {
			sum += begins[0].mme
			running++
		}
		for ; len(ends) > 0 && ends[0].day == day; ends = ends[1:] {
			sum -= ends[0].mme
			running--
		}
		if running > 0 {
			next := ends[0].day
			if len(begins) > 0 {
				next = min(next, begins[0].day)
			}
			doses = append(doses, Dose{Span{day, next - 1}, tidy(sum)})
		}
	}
	m.doses = doses
	return doses
}

func inOrder(steps []step) {
	for i := 1; i < len(steps); i++ {
		if steps[i].day < steps[i-1].day {
			slices.SortFunc(steps, func(a, b step) int { return int(a.day) - int(b.day) })
			return
		}
	}
}

// Exposure summarises courses. The four published definitions of daily MME
// follow from it; a report must name the definition it uses.
type Exposure struct {
	TotalMME     float64
	SuppliedDays int     // summed over the courses of known MME
	CoveredDays  int     // counting each calendar day once
	Peak         float64 // definition 4: the highest single day
	DaysFrom50   int     // days with 50 MME or more
	DaysFrom90   int
	OpioidDays   int  // days covered by any opioid, with known MME or not
	Incomplete   bool // a course is missing from the total
}

// Measure summarises the courses within the window.
func Measure(courses []Course, window Span) Exposure { return new(Meter).Measure(courses, window) }

// Measure summarises the courses within the window.
func (m *Meter) Measure(courses []Course, window Span) Exposure {
	var e Exposure
	inside, spans := m.inside[:0], m.spans[:0]
	for i := range courses {
		c := &courses[i]
		span, ok := c.Within(window)
		if !ok {
			continue
		}
		inside = append(inside, *c)
		inside[len(inside)-1].Span = span
		if c.Reason != NotUnderstood {
			spans = append(spans, span)
		}
		e.Incomplete = e.Incomplete || c.Reason.Incomplete()
		if c.Reason == "" {
			e.SuppliedDays += span.Days()
		}
	}
	m.inside, m.spans = inside, spans
	e.OpioidDays = CoveredDays(spans)
	e.Add(m.Timeline(inside), window)
	return e
}

// Add adds the doses of a timeline within the window.
func (e *Exposure) Add(doses []Dose, window Span) {
	for i := range doses {
		d := &doses[i]
		span, ok := d.Within(window)
		if !ok {
			continue
		}
		days := span.Days()
		e.CoveredDays += days
		e.TotalMME += d.MME * float64(days)
		if d.MME > e.Peak { // max would also check for NaN
			e.Peak = d.MME
		}
		if AtLeast(d.MME, 50) {
			e.DaysFrom50 += days
		}
		if AtLeast(d.MME, 90) {
			e.DaysFrom90 += days
		}
	}
}

// PerSuppliedDay returns definition 1: the total divided by the summed days of
// supply.
func (e Exposure) PerSuppliedDay() (_ float64, ok bool) { return perDay(e.TotalMME, e.SuppliedDays) }

// Average returns definition 2: the total divided by the covered days.
func (e Exposure) Average() (_ float64, ok bool) { return perDay(e.TotalMME, e.CoveredDays) }

// PerWindowDay returns definition 3: the total divided by a fixed number of
// days.
func (e Exposure) PerWindowDay(days int) (_ float64, ok bool) { return perDay(e.TotalMME, days) }

func perDay(total float64, days int) (float64, bool) {
	if days <= 0 {
		return 0, false
	}
	return total / float64(days), true
}

// AtLeast reports whether a dose reaches a threshold, allowing for rounding
// errors.
func AtLeast(mme, threshold float64) bool { return mme >= threshold-1e-9 }

// Band returns the exposure band of a daily dose.
func Band(mme float64) string {
	switch {
	case mme <= 0:
		return "0"
	case !AtLeast(mme, 20):
		return ">0-<20"
	case !AtLeast(mme, 50):
		return "20-<50"
	case !AtLeast(mme, 90):
		return "50-<90"
	}
	return ">=90"
}

// Overlap returns the number of days covered by both sets of spans.
func Overlap(a, b []Span) int { return count(Shared(a, b)) }

// Shared returns the days covered by both sets of spans, in order.
func Shared(a, b []Span) []Span {
	a, b = union(a), union(b)
	var shared []Span
	for len(a) > 0 && len(b) > 0 {
		if both, ok := a[0].Within(b[0]); ok {
			shared = append(shared, both)
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return shared
}

// Twice returns the days covered by two or more spans, in order.
func Twice(spans []Span) []Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return int(a.First) - int(b.First) })
	var twice []Span
	for i, last := 1, Day(math.MinInt32); i < len(spans); i++ {
		last = max(last, spans[i-1].Last)
		if both := (Span{spans[i].First, min(last, spans[i].Last)}); both.First <= both.Last {
			twice = append(twice, both)
		}
	}
	return Join(twice)
}

// CoveredDays returns the number of distinct days covered by spans. It
// reorders spans.
func CoveredDays(spans []Span) int { return count(Join(spans)) }

// union returns the days of spans as ordered spans that do not touch.
func union(spans []Span) []Span { return Join(slices.Clone(spans)) }

// Join returns the days of spans as ordered spans that do not touch, reusing
// the memory of spans.
func Join(spans []Span) []Span {
	for i := 1; i < len(spans); i++ { // almost always already in order
		if spans[i].First < spans[i-1].First {
			slices.SortFunc(spans, func(a, b Span) int { return int(a.First) - int(b.First) })
			break
		}
	}
	joined := spans[:0]
	for _, s := range spans {
		if last := len(joined) - 1; last >= 0 && int64(s.First) <= int64(joined[last].Last)+1 {
			joined[last].Last = max(joined[last].Last, s.Last)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

func count(spans []Span) int {
	days := 0
	for _, s := range spans {
		days += s.Days()
	}
	return days
}

// Always is a window that contains all days.
var Always = Span{math.MinInt32 / 2, math.MaxInt32 / 2}
