package dictionary

import "math"

// per is what an amount refers to.
type per uint8

const (
	perUnit       per = iota // a tablet, capsule, suppository
	perMillilitre            // a liquid
	perHour                  // a patch
	perActuation             // a spray
	perMilligram             // an ointment
)

// measure is the kind of quantity of an amount.
type measure uint8

const (
	unknown measure = iota // no strength
	milligrams
	units       // international units and similar
	equivalents // milliequivalents
	plain       // a number without unit, as people type it
	percent
	otherMeasure
)

// amount is a strength: milligrams (or units) of a substance per tablet,
// millilitre, hour or spray.
type amount struct {
	value   float64
	measure measure
	per     per
}

// rxAmount parses a strength as written by RxNorm.
func rxAmount(value float64, unit string) amount {
	switch unit {
	case "":
		return amount{}
	case "MG":
		return amount{value, milligrams, perUnit}
	case "MG/ML":
		return amount{value, milligrams, perMillilitre}
	case "MG/HR":
		return amount{value, milligrams, perHour}
	case "MG/ACTUAT":
		return amount{value, milligrams, perActuation}
	case "MG/MG":
		return amount{value, milligrams, perMilligram}
	case "%":
		return amount{value, percent, perUnit}
	case "UNT":
		return amount{value, units, perUnit}
	case "UNT/ML":
		return amount{value, units, perMillilitre}
	case "UNT/ACTUAT":
		return amount{value, units, perActuation}
	case "UNT/MG":
		return amount{value, units, perMilligram}
	case "MEQ":
		return amount{value, equivalents, perUnit}
	case "MEQ/ML":
		return amount{value, equivalents, perMillilitre}
	}
	return amount{value, otherMeasure, perUnit}
}

// Strength is the amount of an ingredient in one unit of a product, in the
// units of package drug: mg, mg/mL, mcg/h; and also mg/actuation, %, unit,
// unit/mL, meq and meq/mL. Unit is "" if unknown.
type Strength struct {
	Value float64
	Unit  string
}

func (a amount) strength() Strength {
	switch a.measure {
	case milligrams:
		switch a.per {
		case perUnit:
			return Strength{a.value, "mg"}
		case perMillilitre:
			return Strength{tidy(a.value), "mg/mL"}
		case perHour:
			return Strength{tidy(a.value * 1000), "mcg/h"}
		case perActuation:
			return Strength{a.value, "mg/actuation"}
		case perMilligram:
			return Strength{tidy(a.value * 100), "%"}
		}
	case units, equivalents:
		unit := "unit"
		if a.measure == equivalents {
			unit = "meq"
		}
		switch a.per {
		case perUnit:
			return Strength{a.value, unit}
		case perMillilitre:
			return Strength{a.value, unit + "/mL"}
		}
	case percent:
		return Strength{a.value, "%"}
	}
	return Strength{}
}

// tidy removes binary rounding noise.
func tidy(x float64) float64 {
	scale := math.Pow(10, 9-math.Ceil(math.Log10(math.Abs(x)+1e-300)))
	return math.Round(x*scale) / scale
}

func same(x, y float64) bool { return math.Abs(x-y) <= 1e-6*math.Max(math.Abs(x), math.Abs(y)) }

// fits reports whether an amount as people type it may be that of a product. A
// number without unit may be milligrams or micrograms; an amount without "per
// hour" may be that of a patch.
func (typed amount) fits(a amount) bool {
	switch typed.measure {
	case plain:
		if a.measure == units || a.measure == equivalents {
			return same(typed.value, a.value)
		}
		return a.measure == milligrams && (same(typed.value, a.value) && a.per != perHour ||
			same(typed.value, a.value*1000) && (a.per != perUnit || a.value < 1))
	case percent:
		return a.measure == percent && same(typed.value, a.value) || a.measure == milligrams && (a.per == perMilligram && same(typed.value, a.value*100) ||
			a.per == perMillilitre && same(typed.value, a.value/10))
	}
	if typed.measure != a.measure {
		return false
	}
	if typed.per == perMillilitre && a.per == perMillilitre { // 325 mg/15 mL is 21.7 MG/ML in RxNorm
		return math.Abs(typed.value-a.value) <= 0.003*a.value
	}
	if !same(typed.value, a.value) {
		return false
	}
	return typed.per == a.per || typed.per == perUnit && (a.per == perHour || a.per == perActuation)
}
