package analytics

import "anodyne.example/anodyne/internal/pain/drug"

// coverage is the days with an opioid of known or unknown dose.
type coverage struct {
	yearDays int // in the last year
	// days is the number of covered days in the period, from first to last.
	days        int
	first, last drug.Day
	// fresh is the first covered day of the period with none in the lookback of
	// an episode before it, or a day after the period if there is none.
	fresh drug.Day
}

// lookAt computes the coverage from sorted spans that do not overlap.
func (c *coverage) lookAt(covered []drug.Span, period, year drug.Span) {
	*c = coverage{first: period.Last + 1, last: period.Last, fresh: period.Last + 1}
	clean := drug.Day(neverScored) // first day with enough clean days before it
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
