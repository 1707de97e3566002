package drug

import "slices"

// per says what a strength is a strength of.
type per uint8

const (
	perUnit       per = iota // a tablet, capsule, patch
	perMillilitre            // a liquid
	perHour                  // a patch that gives off so much
	perOther                 // a percentage, international units: no mass
)

// strengthUnit is a unit of strength: how many milligrams, or for a patch
// micrograms an hour, one of it is.
type strengthUnit struct {
	name string
	size float64
	per  per
}

var strengthUnits = []strengthUnit{
	{"mg", 1, perUnit}, {"mcg", 0.001, perUnit}, {"ug", 0.001, perUnit}, {"µg", 0.001, perUnit}, {"g", 1000, perUnit},
	{"mg/ml", 1, perMillilitre}, {"mg/mL", 1, perMillilitre}, {"mg/5ml", 0.2, perMillilitre}, {"mg/5mL", 0.2, perMillilitre},
	{"mcg/ml", 0.001, perMillilitre}, {"mcg/mL", 0.001, perMillilitre}, {"ug/mL", 0.001, perMillilitre}, {"µg/mL", 0.001, perMillilitre},
	{"mcg/h", 1, perHour}, {"ug/h", 1, perHour}, {"mcg/hr", 1, perHour}, {"µg/h", 1, perHour},
	{"%", 0, perOther}, {"unit", 0, perOther}, {"iu", 0, perOther}, {"meq", 0, perOther},
}

// doseUnits are the units of a dose beside those of mass.
var (
	countUnits  = []string{"tablet", "capsule", "patch", "suppository", "lozenge", "film", "ampoule"}
	volumeUnits = []string{"ml", "mL"}
	otherUnits  = []string{"spray", "puff", "drop", "application", "unit", "iu", "meq"}
)

// StrengthUnits lists the units in which a strength may be given.
func StrengthUnits() []string {
	var names []string
	for _, u := range strengthUnits {
		names = append(names, u.name)
	}
	return names
}

// DoseUnits lists the units in which a dose may be given.
func DoseUnits() []string {
	var names []string
	for _, u := range strengthUnits {
		if u.per == perUnit || u.per == perHour {
			names = append(names, u.name)
		}
	}
	return slices.Concat(names, countUnits, volumeUnits, otherUnits)
}

// Milligrams is a strength or dose of one unit in milligrams; not ok in a unit
// of another kind.
func Milligrams(value float64, unit string) (_ float64, ok bool) {
	u := strengthUnitOf(unit)
	return value * u.size, value > 0 && u.per == perUnit
}

func strengthUnitOf(name string) strengthUnit {
	for _, u := range strengthUnits {
		if u.name == name {
			return u
		}
	}
	return strengthUnit{per: perOther}
}
