package pain

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// A warning notes that a prescription contradicts itself or known facts about
// the medicine. The record is stored, and figures use the stated values.
type warning string

const (
	warnNotUnderstood    warning = "name_not_fully_understood"  // an opioid whose name has an unknown word
	warnStrengthDiffers  warning = "strength_differs_from_name" // strength or code contradicts the name
	warnOtherIngredient  warning = "dose_of_another_ingredient" // for example 325 mg of oxycodone/acetaminophen 5-325
	warnStrengthUnlisted warning = "strength_not_listed"        // no product with this ingredient has this strength
	warnSupplyDisagrees  warning = "supply_disagrees_with_dose" // quantity and days of supply contradict dose and frequency
	warnPatchDisagrees   warning = "patches_disagree_with_wear" // number of patches contradicts the wear time
	warnVeryHighDose     warning = "more_than_1000_mme"         // per day
)

// warnings lists the warnings.
func warnings() []warning {
	return []warning{warnNotUnderstood, warnStrengthDiffers, warnOtherIngredient, warnStrengthUnlisted, warnSupplyDisagrees, warnPatchDisagrees, warnVeryHighDose}
}

const (
	// mostMME is the daily MME above which a dose is assumed to be a mistake.
	mostMME = 1000
	// mostUnits is an implausible number of tablets per dose. A dose above it
	// that matches another ingredient of the combination is assumed to be that
	// ingredient's.
	mostUnits = 12
)

// warn lists the doubts about a prescription.
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

// strengthDiffers reports whether the stated strength differs from that of the
// product given by name or code.
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

// strengthUnlisted reports whether no product with the opioid has the stated
// strength.
func (v *Medication) strengthUnlisted() bool {
	stated, ok := v.Strength.Get()
	opioid := v.understood.opioid()
	mass, isMass := drug.Milligrams(stated, v.StrengthUnit)
	return ok && isMass && opioid != nil && !dictionary.Listed(opioid.Name, mass)
}

// doseOfAnother reports whether the dose or strength is that of another
// ingredient of the combination.
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
