package pain

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// A warning says that a prescription contradicts itself or what is known of
// the medicine. The record is kept, and figures count it as stated.
type warning string

const (
	warnNotUnderstood    warning = "name_not_fully_understood"  // an opioid with a word that means nothing to us
	warnStrengthDiffers  warning = "strength_differs_from_name" // strength, or the code, against the name
	warnOtherIngredient  warning = "dose_of_another_ingredient" // 325 mg of oxycodone/acetaminophen 5-325
	warnStrengthUnlisted warning = "strength_not_listed"        // no product of the ingredient has it
	warnSupplyDisagrees  warning = "supply_disagrees_with_dose" // quantity and days of supply against dose and frequency
	warnPatchDisagrees   warning = "patches_disagree_with_wear" // number of patches against the time each is worn
	warnVeryHighDose     warning = "more_than_1000_mme"         // a day
)

// warnings lists the warnings.
func warnings() []warning {
	return []warning{warnNotUnderstood, warnStrengthDiffers, warnOtherIngredient, warnStrengthUnlisted, warnSupplyDisagrees, warnPatchDisagrees, warnVeryHighDose}
}

const (
	// mostMME is what more than must be a mistake a day.
	mostMME = 1000
	// mostUnits is how many tablets nobody takes at a time: a dose that is more
	// than that of the opioid, and fits another ingredient, is the other's.
	mostUnits = 12
)

// warn lists what is doubtful.
func (v *Medication) warn(p *drug.Prescription, mme drug.MME) (list []string) {
	u := &v.understood
	add := func(w warning, is bool) {
		if is {
			list = append(list, string(w))
		}
	}
	add(warnNotUnderstood, u.Understood && len(u.Unknown) > 0)
	add(warnStrengthDiffers, u.StrengthDiffers || v.strengthDiffers())
	add(warnOtherIngredient, v.doseOfAnother())
	add(warnStrengthUnlisted, v.strengthUnlisted())
	add(warnSupplyDisagrees, p.SupplyDisagrees())
	add(warnPatchDisagrees, mme.PatchesDisagree)
	add(warnVeryHighDose, mme.PerDay > mostMME)
	return list
}

// strengthDiffers reports whether the stated strength is not that of the
// product which the name or the code means.
func (v *Medication) strengthDiffers() bool {
	stated, ok := v.Strength.Get()
	opioid := v.understood.opioid()
	if !ok || opioid == nil || opioid.Strength.Unit == "" {
		return false
	}
	mine, isMass := drug.Milligrams(stated, v.StrengthUnit)
	theirs, alsoMass := drug.Milligrams(opioid.Strength.Value, opioid.Strength.Unit)
	return isMass && alsoMass && !near(mine, theirs)
}

// strengthUnlisted reports whether no product of the opioid has the stated
// strength.
func (v *Medication) strengthUnlisted() bool {
	stated, ok := v.Strength.Get()
	opioid := v.understood.opioid()
	mass, isMass := drug.Milligrams(stated, v.StrengthUnit)
	return ok && isMass && opioid != nil && !dictionary.Listed(opioid.Name, mass)
}

// doseOfAnother reports whether dose or strength is that of another ingredient
// of the combination.
func (v *Medication) doseOfAnother() bool {
	u := &v.understood
	opioid := u.opioid()
	if opioid == nil || len(u.Ingredients) < 2 {
		return false
	}
	own, known := drug.Milligrams(opioid.Strength.Value, opioid.Strength.Unit)
	for _, stated := range []struct {
		value Number
		unit  string
	}{{v.Dose, v.DoseUnit}, {v.Strength, v.StrengthUnit}} {
		value, ok := stated.value.Get()
		mass, isMass := drug.Milligrams(value, stated.unit)
		if !ok || !isMass || known && mass <= mostUnits*own {
			continue
		}
		if slices.ContainsFunc(u.Ingredients, func(in dictionary.Ingredient) bool {
			theirs, ok := drug.Milligrams(in.Strength.Value, in.Strength.Unit)
			return ok && in.Class != drug.Opioid && slices.ContainsFunc([]float64{0.5, 1, 2, 3, 4}, func(units float64) bool { return near(mass, units*theirs) })
		}) {
			return true
		}
	}
	return false
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b)) }
