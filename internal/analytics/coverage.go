package analytics

import "anodyne.example/anodyne/internal/pain/drug"

// coverage is on which days a patient had an opioid, known or not.
type coverage struct {
	yearDays int // of the last year
	// days is how many of the period have one, from first to last.
	days        int
	first, last drug.Day
	// fresh is the first covered day of the period with none before it for as
	// long as an episode asks; later than the period when there is none.
	fresh drug.Day
}

// lookAt finds it out, from spans in order that do not overlap.
func (c *coverage) lookAt(covered []drug.Span, period, year drug.Span) {
	*c = coverage{first: period.Last + 1, last: period.Last, fresh: period.Last + 1}
	clean := drug.Day(neverScored) // from when on enough days are clean
	for _, s := range covered {
		c.yearDays += max(0, int(min(s.Last, year.Last)-max(s.First, year.First))+1)
		if s.First > period.Last {
			continue
		}
		if s.First >= period.First && s.First >= clean {
			c.fresh = min(c.fresh, s.First)
		}
		clean = s.Last + cleanDays + 1
		if span, ok := s.Within(period); ok {
			c.days += span.Days()
			c.first, c.last = min(c.first, span.First), span.Last
		}
	}
}
