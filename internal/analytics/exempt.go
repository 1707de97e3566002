package analytics

import (
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// Exempt is the exemptions that a patient has, and since when each.
type Exempt struct {
	since [pain.Exemptions]drug.Day
	has   uint8 // a bit each
}

// Add notes an exemption. Of several beginnings the first counts.
func (x *Exempt) Add(e pain.Exemption, from drug.Day) {
	if bit := uint8(1) << e; x.has&bit == 0 || from < x.since[e] {
		x.has |= bit
		x.since[e] = from
	}
}

// On is the exemption that counts on a day, the first of the list where there
// are several; not ok without one.
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
