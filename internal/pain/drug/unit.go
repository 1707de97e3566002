package drug

import "slices"

// per is the basis of a strength.
type per uint8

const (
	perUnit       per = iota // a tablet, capsule, patch
	perMillilitre            // a liquid
	perHour                  // release rate of a patch
	perOther                 // percentage or international units: not a mass
)

// strengthUnit is a unit of strength, with its value in milligrams or, for a
// patch, in micrograms per hour.
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

// doseUnits are the units of a dose other than units of mass.
var (
	countUnits  = []string{"tablet", "capsule", "patch", "suppository", "lozenge", "film", "ampoule"}
	volumeUnits = []string{"ml", "mL"}
	otherUnits  = []string{"spray", "puff", "drop", "application", "unit", "iu", "meq"}
)

// StrengthUnits lists the units of a strength.
func StrengthUnits() []string {
	var names []string
	for _, u := range strengthUnits {
		names = append(names, u.name)
	}
	return names
}

// DoseUnits lists the units of a dose.
func DoseUnits() []string {
	var names []string
	for _, u := range strengthUnits {
		if u.per == perUnit || u.per == perHour {
			names = append(names, u.name)
		}
	}
	return slices.Concat(names, countUnits, volumeUnits, otherUnits)
}

// Milligrams converts a strength or dose to milligrams. It is not ok for units
// that are not a mass.
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
