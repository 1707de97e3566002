package fhir

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// readDosages takes how a medicine is taken. A record has one dose; several
// dosages, as of a taper, are kept as received and not read, so that the dose is
// unknown rather than that of one step.
func (p *prescribed) readDosages(list []Dosage, at string) {
	if len(list) != 1 {
		return
	}
	d, at := &list[0], at+"[0]"
	if d.Route != nil {
		p.readRoute(d.Route, at+".route")
	}
	p.readTiming(d.Timing, at+".timing")
	p.readDose(d.DoseAndRate, at+".doseAndRate")
	p.readAsNeeded(d, at)
}

// readRoute takes the route. A route that is none of ours is kept as received,
// except for opioids, which would count as taken by mouth.
func (p *prescribed) readRoute(concept *CodeableConcept, at string) {
	if route, ok := routeOf(concept); ok {
		p.setText("route", route, at)
	} else if p.isOpioid() {
		p.refuse(CodeInvalid, at, "The route of an opioid must be one of those that the service knows, as a SNOMED CT code.")
	}
}

// readTiming takes how often the medicine is taken.
func (p *prescribed) readTiming(t *Timing, at string) {
	if t == nil {
		return
	}
	frequency := oneLine(frequencyOf(t.Code))
	if utf8.RuneCountInString(frequency) <= longestLabel {
		p.setText("frequency", frequency, at+".code")
	}
	if t.Repeat == nil {
		return
	}
	p.draft.from("value.doses_per_day", p.at(at+".repeat"))
	fewest, most, ok := t.Repeat.perDay()
	if !ok {
		return
	}
	if fewest != most && frequency == "" {
		p.setText("frequency", t.Repeat.words(), at+".repeat")
	}
	stated, _ := p.extension("medications", "doses_per_day")
	perDay, isNew := t.Repeat.dosesPerDay(frequency)
	switch {
	case stated == "" && isNew:
		p.setNumber("doses_per_day", decimalOf(perDay), at+".repeat")
	case stated != "" && !near(floatOf(json.Number(stated)), most):
		p.refuse(BusinessRule, at+".repeat", "The schedule must agree with the extension for the doses per day; change both, or remove the extension.")
	}
}

// readDose takes the dose: the upper end of a range, and the rate of a patch.
// Other rates are kept as received.
func (p *prescribed) readDose(list []DoseAndRate, at string) {
	if len(list) != 1 {
		return
	}
	dose := list[0]
	at += "[0]"
	switch {
	case dose.DoseQuantity != nil:
		p.readDoseQuantity(dose.DoseQuantity, at+".doseQuantity")
	case dose.DoseRange != nil && dose.DoseRange.High != nil:
		p.readDoseQuantity(dose.DoseRange.High, at+".doseRange.high")
	case dose.DoseRange != nil:
		p.refuse(NotSupported, at+".doseRange", "A range of doses needs an upper end.")
	case dose.RateQuantity != nil:
		if unit, ok := doseUnit(dose.RateQuantity); ok && doseCode(unit) == perHour {
			p.readDoseQuantity(dose.RateQuantity, at+".rateQuantity")
		}
	}
}

// readDoseQuantity takes a dose with its unit. A number without a unit counts
// units of the product, if the dictionary knows in which it comes; otherwise it
// is kept as received.
func (p *prescribed) readDoseQuantity(q *Quantity, at string) {
	if q.Value == "" || q.Comparator != "" {
		p.refuse(NotSupported, at, "The dose must be a number, without a comparator.")
		return
	}
	unit, ok := doseUnit(q)
	if isEach(q) {
		unit, ok = "", true
	}
	if !ok {
		p.refuse(CodeInvalid, at+".code", "The unit of the dose is not one that the service knows, or its code and its name differ.")
		return
	}
	if unit == "" {
		if unit = p.medicine.Unit; !slices.Contains(counted, doseCode(unit)) || unit == "mL" {
			return
		}
	}
	p.setNumber("dose", q.Value, at+".value")
	p.setText("dose_unit", unit, at)
}

// readAsNeeded takes whether the medicine is taken as needed, and at most how
// often. Without a maximum, the schedule is one. An opioid with neither is not
// marked as taken as needed, because a record of it needs a maximum; its
// frequency says so instead, and its dose is unknown.
func (p *prescribed) readAsNeeded(d *Dosage, at string) {
	p.draft.from("value.max_doses_per_day", p.at(at+".maxDosePerPeriod"))
	if d.MaxDosePerPeriod != nil {
		if most, ok := p.mostPerDay(d); ok {
			p.setNumber("max_doses_per_day", most, at+".maxDosePerPeriod")
		}
	}
	prn := d.AsNeededCodeableConcept != nil || d.AsNeededBoolean != nil && *d.AsNeededBoolean
	if !prn {
		if d.AsNeededBoolean != nil {
			p.setJSON("prn", []byte("false"), at+".asNeededBoolean")
		}
		return
	}
	if !p.draft.value.has("max_doses_per_day") && p.isOpioid() && d.MaxDosePerPeriod == nil {
		if most := p.scheduled(d); most > 0 {
			p.setNumber("max_doses_per_day", decimalOf(most), at+".timing")
		} else {
			p.setText("frequency", "as needed", at+".asNeededBoolean")
			return
		}
	}
	p.setJSON("prn", []byte("true"), at+".asNeededBoolean")
}

// scheduled returns the most doses per day of the schedule, or 0.
func (p *prescribed) scheduled(d *Dosage) float64 {
	if d.Timing == nil {
		return 0
	}
	if d.Timing.Repeat != nil {
		if _, most, ok := d.Timing.Repeat.perDay(); ok {
			return most
		}
	}
	_, most, _ := drug.PerDay(frequencyOf(d.Timing.Code))
	return most
}

// mostPerDay returns the maximum as a number of doses per day. It is not ok for
// a maximum that cannot be converted, which is kept as received.
func (p *prescribed) mostPerDay(d *Dosage) (_ json.Number, ok bool) {
	amount, period := d.MaxDosePerPeriod.Numerator, d.MaxDosePerPeriod.Denominator
	if amount == nil || period == nil || amount.Comparator != "" {
		return "", false
	}
	hours := hoursOf[period.unit()] * floatOf(period.Value)
	if hours <= 0 || amount.Value == "" {
		return "", false
	}
	if isEach(amount) {
		if hours == 24 {
			return amount.Value, true
		}
		return decimalOf(floatOf(amount.Value) * 24 / hours), true
	}
	if len(d.DoseAndRate) != 1 || d.DoseAndRate[0].DoseQuantity == nil {
		return "", false
	}
	dose := d.DoseAndRate[0].DoseQuantity
	of, ok1 := doseUnit(amount)
	each, ok2 := doseUnit(dose)
	one := floatOf(dose.Value)
	if !ok1 || !ok2 || one <= 0 || doseCode(of) != doseCode(each) {
		return "", false
	}
	return decimalOf(floatOf(amount.Value) / one * 24 / hours), true
}

// readBounds takes the first and the last day, and returns the first as
// written. A duration counts from the first day, or from that of the request.
func (p *prescribed) readBounds(list []Dosage, authored string) (start string) {
	if len(list) == 0 || list[0].Timing == nil || list[0].Timing.Repeat == nil {
		return ""
	}
	const at = "dosageInstruction[0].timing.repeat."
	r := list[0].Timing.Repeat
	if len(list) > 1 { // steps of a taper
		return ""
	}
	if r.BoundsPeriod != nil {
		p.readDay("start_date", r.BoundsPeriod.Start, at+"boundsPeriod.start")
		p.readDay("end_date", r.BoundsPeriod.End, at+"boundsPeriod.end")
		return r.BoundsPeriod.Start
	}
	if r.BoundsDuration != nil && len(authored) >= len("YYYY-MM-DD") {
		days := hoursOf[r.BoundsDuration.unit()] * floatOf(r.BoundsDuration.Value) / 24
		first, err := pain.ParseDate(authored[:len("YYYY-MM-DD")])
		if err == nil && days >= 1 && days <= 3650 && whole(days) && r.BoundsDuration.Comparator == "" {
			last := time.Date(first.Year, first.Month, first.Day+int(days)-1, 0, 0, 0, 0, time.UTC)
			p.setText("end_date", last.Format(time.DateOnly), at+"boundsDuration")
		}
	}
	return ""
}
