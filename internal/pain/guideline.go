package pain

import (
	"math"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Stands reports whether the condition is the patient's own and still active.
func (c *Coded) Stands() bool {
	switch c.Status {
	case "", "active", "recurrence", "relapse":
		return c.Own()
	}
	return false
}

// Begins returns the earliest possible first day of the condition: the first
// of the month or year if no more is known.
func (c *Coded) Begins() drug.Day {
	on, err := firstDay(c.OnsetDate)
	if err != nil {
		return math.MinInt32
	}
	return on.DayNumber()
}

// Exemption is a condition that excludes a patient from the opioid guideline
// and from measures of opioid use.
type Exemption uint8

// The exemptions. A hospice stay has no code of its own and is represented by
// palliative care.
const (
	Cancer Exemption = iota
	SickleCell
	Palliative
	Exemptions
)

// Exemption returns the exemption of a condition, if it is one. It applies
// from the beginning of the condition, while it is active.
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

// OutsideGuideline reports whether the condition excludes a patient from the
// opioid guideline: cancer (C00 to C96), sickle cell disease or palliative
// care. It applies from the beginning of the condition, while it is active.
func (c *Coded) OutsideGuideline() bool {
	_, ok := c.Exemption()
	return ok
}
