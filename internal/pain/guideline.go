package pain

import (
	"math"
	"strings"

	"anodyne/internal/pain/drug"
)

// Stands reports whether a condition is the patient's own and goes on.
func (c *Coded) Stands() bool {
	switch c.Status {
	case "", "active", "recurrence", "relapse":
		return c.Own()
	}
	return false
}

// Begins is the first day on which the condition is not known to begin only
// later: the first of the month or of the year when no more is said.
func (c *Coded) Begins() drug.Day {
	first := c.OnsetDate
	switch len(first) {
	case len("2006"):
		first += "-01-01"
	case len("2006-01"):
		first += "-01"
	}
	on, err := ParseDate(first)
	if err != nil {
		return math.MinInt32
	}
	return on.DayNumber()
}

// OutsideGuideline reports whether it is one of the conditions with which the
// opioid guideline leaves a patient out: cancer (C00 to C96), sickle cell
// disease, palliative care. It counts while it stands, from its beginning on.
func (c *Coded) OutsideGuideline() bool {
	code := c.ICD10Code
	return c.Stands() && (len(code) >= 3 && code[0] == 'C' && code[1:3] <= "96" || strings.HasPrefix(code, "D57") || strings.HasPrefix(code, "Z51.5"))
}
