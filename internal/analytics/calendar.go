package analytics

import (
	"time"

	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
)

// calendar cuts a period into days, ISO weeks or months.
type calendar struct {
	start   drug.Day
	buckets []drug.Span
	of      []int32 // the bucket of each day
	ends    []int64 // the first millisecond after each bucket
}

func newCalendar(p *Params) calendar {
	c := calendar{start: p.Start}
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

// lastOf is the last day of the interval that a day is in.
func lastOf(i Interval, day drug.Day) drug.Day {
	switch i {
	case ByDay:
		return day
	case ByWeek:
		const thursday = 3 // 1970-01-01, with Monday 0
		weekday := ((day+thursday)%7 + 7) % 7
		return day + 6 - weekday
	}
	d := pain.DateOfDay(day)
	return pain.DateOf(time.Date(d.Year, d.Month+1, 1, 0, 0, 0, 0, time.UTC)).DayNumber() - 1
}

// bucketSum is the patients' values of a bucket.
type bucketSum struct {
	n        int32
	total    int64   // fixed point; scores are 10 at most
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
