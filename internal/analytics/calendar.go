package analytics

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
)

// calendar divides a period into days, ISO weeks or months.
type calendar struct {
	kind    int // index of the interval
	start   drug.Day
	buckets []drug.Span
	of      []int32 // bucket of each day
	ends    []int64 // first millisecond after each bucket
}

func newCalendar(p *Params) calendar {
	c := calendar{kind: slices.Index([]Interval{ByDay, ByWeek, ByMonth}, p.Interval), start: p.Start}
	for day := p.Start; day <= p.End; {
		last := min(p.End, lastOf(p.Interval, day))
		for range last - day + 1 {
			c.of = append(c.of, int32(len(c.buckets)))
		}
		c.buckets = append(c.buckets, drug.Span{First: day, Last: last})
		c.ends = append(c.ends, startOf(last+1))
		day = last + 1
	}
	return c
}

// intervals is the number of intervals.
const intervals = 3

// lastOf returns the last day of the interval that contains a day.
func lastOf(i Interval, day drug.Day) drug.Day {
	switch i {
	case ByDay:
		return day
	case ByWeek:
		return endOfWeek(day)
	}
	return endOfMonth(day)
}

// endOfWeek returns the last day of an ISO week, a Sunday.
func endOfWeek(day drug.Day) drug.Day {
	const (
		thursday = 3 // 1970-01-01, with Monday as 0
		before   = 7 << 24
	)
	return day + 6 - drug.Day(uint32(day+thursday+before)%7)
}

// endOfMonth counts in years that begin in March, so that a leap day is the
// last of its year. Package time would take as long as the rest of loading a
// patient, since a patient has scores in a dozen months.
func endOfMonth(day drug.Day) drug.Day {
	const (
		fromYear0          = 719_468 // days from 1 March of year 0 to 1970
		fourYears, century = 4*365 + 1, 36_524
		fourCenturies      = 4*century + 1
	)
	of := (uint32(day) + fromYear0) % fourCenturies
	year := (of - of/(fourYears-1) + of/century - of/(fourCenturies-1)) / 365
	ofYear := of - (365*year + year/4 - year/100)
	month := (5*ofYear + 2) / 153
	next := (153*(month+1) + 2) / 5
	if month == 11 { // up to the first day of the next year
		next = 365*(year+1) + (year+1)/4 - (year+1)/100 + (year+1)/400 - (365*year + year/4 - year/100)
	}
	return day + drug.Day(next-ofYear) - 1
}

// bucketSum sums the patients' values in a bucket.
type bucketSum struct {
	n        int32
	total    int64   // fixed point; scores are at most 10
	min, max float64 // infinite without patients
}

func (b *bucketSum) add(mean float64) {
	b.include(mean, mean)
	b.n++
	b.total += fixed(mean)
}

func (b *bucketSum) merge(o *bucketSum) {
	b.include(o.min, o.max)
	b.n += o.n
	b.total += o.total
}

func (b *bucketSum) include(least, most float64) {
	if least < b.min {
		b.min = least
	}
	if most > b.max {
		b.max = most
	}
}

func (b *bucketSum) mean() float64 { return float64(b.total) / fraction / float64(b.n) }
