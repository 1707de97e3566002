package pain

import (
	"math"

	"anodyne/internal/pain/drug"
)

func checkMedication(v *Medication, r *reading) {
	checkPair(r, "strength", "strength_unit")
	checkPair(r, "dose", "dose_unit")

	v.found = drug.Find(v.Name, v.RxNormCode)
	if v.found.Contradiction() {
		r.Fault("rxnorm_code", "must not be the code of another medicine than name.")
	}
	class, known := v.found.Class()
	if known && v.DrugClass != "" && (class == drug.Opioid) != (v.DrugClass == string(drug.Opioid)) {
		r.Fault("drug_class", "must be "+string(class)+" for this medicine, or be left out.")
	}
	if v.isOpioid() && v.PRN.Or(false) && !isThere(r, "max_doses_per_day") {
		r.Fault("max_doses_per_day", "is required of an opioid that is taken as needed.")
	}

	perDay, counted := drug.PerDay(v.Frequency)
	if stated, ok := v.DosesPerDay.Get(); ok && counted && math.Abs(stated-perDay) > 0.01 {
		r.Fault("doses_per_day", "must agree with frequency, or be left out.")
	}
	if v.StartDate != (Date{}) && v.EndDate != (Date{}) && v.EndDate.Before(v.StartDate) {
		r.Fault("end_date", "must not be before start_date (YYYY-MM-DD).")
	}
}

// checkPair asks for a unit with every quantity, and the other way round.
func checkPair(r *reading, quantity, unit string) {
	hasQuantity, hasUnit := isThere(r, quantity), isThere(r, unit)
	if hasQuantity && !hasUnit {
		r.Fault(unit, "is required with "+quantity+".")
	}
	if hasUnit && !hasQuantity {
		r.Fault(quantity, "is required with "+unit+".")
	}
}

// isOpioid goes by what is known of the medicine, and only for one that is
// not known by what the caller says.
func (v *Medication) isOpioid() bool {
	if class, known := v.found.Class(); known {
		return class == drug.Opioid
	}
	return v.DrugClass == string(drug.Opioid)
}

func deriveMedication(v *Medication, on Date) {
	d := &v.Derived
	class, known := v.found.Class()
	switch {
	case known:
		d.DrugClass = string(class)
	case v.DrugClass != "":
		d.DrugClass = v.DrugClass
	default:
		d.DrugClass = string(drug.Other)
	}
	d.Ingredients = v.found.Ingredients()
	d.Opioid = Some(v.isOpioid())
	perDay, counted := v.DosesPerDay.Get()
	if !counted {
		perDay, counted = drug.PerDay(v.Frequency)
	}
	if counted {
		d.DosesPerDay = Some(perDay)
	}
	if v.isOpioid() {
		v.deriveMME(perDay)
	}
	if covered, ok := v.Covered(on); ok {
		d.CoveredFrom, d.CoveredTo = DateOfDay(covered.First), DateOfDay(covered.Last)
		d.CoveredDays = Some(float64(covered.Days()))
	}
}

func (v *Medication) deriveMME(perDay float64) {
	p := v.prescription(perDay)
	mme := p.MME(drug.Current)
	d := &v.Derived
	if mme.Reason != "" {
		d.MMEPerDay, d.MMEExcludedReason = none[float64](), string(mme.Reason)
		return
	}
	d.MMEPerDay, d.MMERule = Some(mme.PerDay), string(mme.Rule)
	d.MMEFactor, d.MMETable = Some(mme.Factor), mme.Table
}

func (v *Medication) prescription(perDay float64) drug.Prescription {
	return drug.Prescription{
		Medicine: v.found,
		Strength: v.Strength.Or(0), StrengthUnit: v.StrengthUnit,
		Dose: v.Dose.Or(0), DoseUnit: v.DoseUnit, Route: v.Route,
		PerDay: perDay, PRN: v.PRN.Or(false), MaxPerDay: v.MaxDosesPerDay.Or(0),
		Quantity: v.Quantity.Or(0), DaysSupply: v.DaysSupply.Or(0), Indication: v.Indication,
	}
}

// LegacyMME is the daily MME with the older table's factors for opioids that
// the current one does not have.
func (v *Medication) LegacyMME() drug.MME {
	perDay, ok := v.DosesPerDay.Get()
	if !ok {
		perDay, _ = drug.PerDay(v.Frequency)
	}
	v.found = drug.Find(v.Name, v.RxNormCode)
	p := v.prescription(perDay)
	return p.MME(drug.WithLegacy)
}

// Covered is the days that the prescription covers, when that can be said. It
// begins on the day of the record unless it has a start. What was cancelled,
// is a draft or was entered in error covers nothing.
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

// Open reports whether nobody can say how long the prescription lasts: it has
// neither a supply nor an end. What was cancelled, is a draft or was entered
// in error is not open.
func (v *Medication) Open() bool {
	switch v.Status {
	case "cancelled", "draft", "entered-in-error":
		return false
	}
	_, supplied := v.DaysSupply.Get()
	return !supplied && v.EndDate == (Date{})
}
