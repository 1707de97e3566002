package pain

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
)

func checkMedication(v *Medication, r *reading) {
	checkPair(r, "strength", "strength_unit")
	checkPair(r, "dose", "dose_unit")

	v.understood = v.understand(r.aliases)
	if v.understood.Contradiction {
		r.Fault("rxnorm_code", "must be the code of the medicine in name.")
	}
	class := v.understood.class
	if v.DrugClass != "" && v.understood.Several {
		r.Fault("drug_class", "must be omitted for a record with more than one medicine. Add a record for each.")
	} else if v.DrugClass != "" && (class == drug.Opioid) != (v.DrugClass == string(drug.Opioid)) {
		r.Fault("drug_class", "must be "+string(class)+" for this medicine, or omitted.")
	}
	if v.isOpioid() && v.PRN.Or(false) && !isThere(r, "max_doses_per_day") {
		r.Fault("max_doses_per_day", "is required for an opioid taken as needed.")
	}

	fewest, most, counted := drug.PerDay(v.Frequency)
	if stated, ok := v.DosesPerDay.Get(); ok && counted && (stated < fewest-0.01 || stated > most+0.01) {
		r.Fault("doses_per_day", "must agree with frequency or be omitted.")
	}
	if v.StartDate != (Date{}) && v.EndDate != (Date{}) && v.EndDate.Before(v.StartDate) {
		r.Fault("end_date", "must not be before start_date (YYYY-MM-DD).")
	}
}

// checkPair requires a unit with every quantity and vice versa.
func checkPair(r *reading, quantity, unit string) {
	hasQuantity, hasUnit := isThere(r, quantity), isThere(r, unit)
	if hasQuantity && !hasUnit {
		r.Fault(unit, "is required with "+quantity+".")
	}
	if hasUnit && !hasQuantity {
		r.Fault(quantity, "is required with "+unit+".")
	}
}

// guessed reports whether a stored class is a guess: it was not stated, and
// has no basis.
func (v *Medication) guessed() bool {
	return v.Derived.DrugClass == string(drug.Other) && v.Derived.Basis == "" && v.DrugClass == ""
}

func (v *Medication) isOpioid() bool { return v.understood.class == drug.Opioid }

func deriveMedication(v *Medication, on Date) {
	d := &v.Derived
	d.DrugClass, d.Basis = string(v.understood.class), string(v.understood.basis)
	d.AliasCode = v.understood.Alias
	d.Ingredients = v.understood.ingredients()
	if v.understood.class == drug.Unclassified {
		d.MMEPerDay, d.MMEExcludedReason = none[float64](), string(drug.NotUnderstood)
		d.Suggestions = v.understood.Suggestions
	} else {
		d.Opioid = Some(v.isOpioid())
	}
	fewest, perDay, counted := v.perDay()
	if counted {
		d.DosesPerDay = Some(perDay)
		if fewest < perDay {
			d.FewestPerDay = Some(fewest)
		}
	}
	if _, stated := v.Strength.Get(); !stated {
		if strength, unit := v.understood.strength(); strength > 0 && slices.Contains(drug.StrengthUnits(), unit) {
			d.Strength, d.StrengthUnit = Some(strength), unit
		}
	}
	if v.Route == "" && slices.Contains(routes, v.understood.Medicine.Route) {
		d.Route = v.understood.Medicine.Route
	}
	if v.isOpioid() {
		v.deriveMME(perDay)
	}
	if covered, ok := v.Covered(on); ok {
		d.CoveredFrom, d.CoveredTo = DateOfDay(covered.First), DateOfDay(covered.Last)
		d.CoveredDays = Some(float64(covered.Days()))
	}
}

// perDay returns the number of doses per day, as stated or derived from the
// frequency. A range has a lower and an upper end; the upper one counts for
// risk.
func (v *Medication) perDay() (fewest, most float64, ok bool) {
	if stated, ok := v.DosesPerDay.Get(); ok {
		return stated, stated, true
	}
	return drug.PerDay(v.Frequency)
}

func (v *Medication) deriveMME(perDay float64) {
	p := v.prescription(perDay)
	mme := p.MME(drug.Current)
	d := &v.Derived
	d.Warnings = v.warn(&p, mme)
	if mme.Reason != "" {
		d.MMEPerDay, d.MMEExcludedReason = none[float64](), string(mme.Reason)
		return
	}
	d.MMEPerDay, d.MMERule = Some(mme.PerDay), string(mme.Rule)
	d.MMEFactor, d.MMETable = Some(mme.Factor), mme.Table
}

func (v *Medication) prescription(perDay float64) drug.Prescription {
	strength, unit := v.strength()
	return drug.Prescription{
		Medicine: v.understood.found(),
		Strength: strength, StrengthUnit: unit,
		Dose: v.Dose.Or(0), DoseUnit: v.DoseUnit, Route: v.route(),
		PerDay: perDay, PRN: v.PRN.Or(false), MaxPerDay: v.MaxDosesPerDay.Or(0),
		Quantity: v.Quantity.Or(0), DaysSupply: v.DaysSupply.Or(0), Indication: v.Indication,
	}
}

// LegacyMME returns the daily MME, using the factors of the older table for
// opioids missing from the current one.
func (v *Medication) LegacyMME() drug.MME {
	_, perDay, _ := v.perDay()
	v.understood = v.understandBy(v.Derived.AliasCode)
	p := v.prescription(perDay)
	return p.MME(drug.WithLegacy)
}

// Covered returns the days covered by the prescription, if known. They begin
// on the day of the record unless there is a start date. Cancelled
// prescriptions, drafts and those entered in error cover no days.
func (v *Medication) Covered(on Date) (_ drug.Span, ok bool) {
	switch v.Status {
	case "cancelled", "draft", "entered-in-error":
		return drug.Span{}, false
	}
	start := v.StartDate
	if start == (Date{}) {
		start = on
	}
	return drug.Cover(start.DayNumber(), int(v.DaysSupply.Or(0)), v.EndDate.DayNumber(), v.EndDate != (Date{}))
}

// Open reports whether the duration of the prescription is unknown, because it
// has neither a supply nor an end date. Cancelled prescriptions, drafts and
// those entered in error are not open.
func (v *Medication) Open() bool {
	switch v.Status {
	case "cancelled", "draft", "entered-in-error":
		return false
	}
	_, supplied := v.DaysSupply.Get()
	return !supplied && v.EndDate == (Date{})
}
