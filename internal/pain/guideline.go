package pain

import (
	"math"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
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

// Exemption is a condition with which the opioid guideline leaves a patient out,
// and measures of opioid use do.
type Exemption uint8

// The exemptions. A hospice stay has no code of its own; palliative care stands
// for it.
const (
	Cancer Exemption = iota
	SickleCell
	Palliative
	Exemptions
)

// Exemption is which of them a condition is. It counts while it stands, from its
// beginning on.
func (c *Coded) Exemption() (_ Exemption, ok bool) {
	if !c.Stands() {
		return 0, false
	}
	switch code := c.ICD10Code; {
	case len(code) >= 3 && code[0] == 'C' && code[1:3] <= "96":
		return Cancer, true
	case strings.HasPrefix(code, "D57"):
		return SickleCell, true
	case strings.HasPrefix(code, "Z51.5"):
		return Palliative, true
	}
	return 0, false
}

// OutsideGuideline reports whether it is one of the conditions with which the
// opioid guideline leaves a patient out: cancer (C00 to C96), sickle cell
// disease, palliative care. It counts while it stands, from its beginning on.
func (c *Coded) OutsideGuideline() bool {
	_, ok := c.Exemption()
	return ok
}
