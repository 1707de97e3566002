package analytics

import (
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Exempt holds a patient's exemptions and since when each applies.
type Exempt struct {
	since [pain.Exemptions]drug.Day
	has   uint8 // one bit each
}

// Add adds an exemption. If it is added several times, the earliest start
// counts.
func (x *Exempt) Add(e pain.Exemption, from drug.Day) {
	if bit := uint8(1) << e; x.has&bit == 0 || from < x.since[e] {
		x.has |= bit
		x.since[e] = from
	}
}

// On returns the exemption that applies on a day, the first in the list if
// there are several. It is not ok without one.
func (x *Exempt) On(day drug.Day) (_ pain.Exemption, ok bool) {
	if x.has == 0 {
		return 0, false
	}
	for e := range pain.Exemptions {
		if x.has&(1<<e) != 0 && x.since[e] <= day {
			return e, true
		}
	}
	return 0, false
}
