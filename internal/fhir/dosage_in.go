package fhir

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// readDosages takes how a medicine is taken. A record has one dose; several
// dosages, as of a taper, are kept as received and only their route is read, so
// that the dose is unknown rather than that of one step.
func (p *prescribed) readDosages(list []Dosage, at string) {
	if len(list) != 1 {
		p.readSteps(list, at)
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

// readSteps takes the route of several dosages. Different routes are kept as
// received, except for opioids, which would count as taken by mouth.
func (p *prescribed) readSteps(list []Dosage, at string) {
	first := -1
	for i := range list {
		route := list[i].Route
		switch {
		case route == nil:
		case first < 0:
			first = i
		case !sameRoute(route, list[first].Route):
			if p.isOpioid() {
				p.refuse(BusinessRule, at+index(i)+".route", "The dosages of an opioid must have the same route; send one resource for each route.")
			}
			return
		}
	}
	if first >= 0 {
		p.readRoute(list[first].Route, at+index(first)+".route")
	}
	if len(list) > 1 && p.isFentanylPatch() {
		p.refuse(NotSupported, at, "A fentanyl patch must have a single dose; send one resource for each dose.")
	}
}

// sameRoute reports whether two concepts are the same route, of which it is
// sure only if it is one of ours.
func sameRoute(a, b *CodeableConcept) bool {
	x, okX := routeOf(a)
	y, okY := routeOf(b)
	return okX && okY && x == y
}

// isFentanylPatch reports whether the medicine is counted as a fentanyl patch,
// of which one is worn unless the dose says otherwise. A dose that is stated
// but cannot be read must therefore not be left out.
func (p *prescribed) isFentanylPatch() bool {
	if route := string(p.draft.value.get("route")); route != "" && route != `"transdermal"` {
		return false
	}
	return (p.medicine.Unit == "patch" || p.medicine.Unit == "") &&
		slices.ContainsFunc(p.medicine.Ingredients, func(i dictionary.Ingredient) bool { return i.Name == "fentanyl" })
}

// readRoute takes the route. A route that is none of ours is kept as received,
// except for opioids, which would count as taken by mouth.
func (p *prescribed) readRoute(concept *CodeableConcept, at string) {
	if route, ok := routeOf(concept); ok {
		p.setText("route", route, at)
	} else if p.isOpioid() {
		p.refuse(CodeInvalid, at, "The route of an opioid must be a SNOMED CT code that the service supports.")
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
// Several amounts and other rates are kept as received, except for fentanyl
// patches.
func (p *prescribed) readDose(list []DoseAndRate, at string) {
	problems := len(p.issues)
	if len(list) == 1 {
		p.readAmount(&list[0], at+"[0]")
	}
	if len(list) > 0 && !p.draft.value.has("dose") && len(p.issues) == problems && p.isFentanylPatch() {
		p.refuse(NotSupported, at, "The dose of a fentanyl patch must be one number of patches, or of micrograms per hour.")
	}
}

func (p *prescribed) readAmount(dose *DoseAndRate, at string) {
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
// is kept as received, and so is one that only says that it is a dose.
func (p *prescribed) readDoseQuantity(q *Quantity, at string) {
	if q.Value == "" || q.Comparator != "" {
		p.refuse(NotSupported, at, "The dose must be a number, without a comparator.")
		return
	}
	if isDoses(q) {
		return
	}
	unit, ok := unitOrEach(q)
	if !ok {
		p.refuse(CodeInvalid, at+".code", "The unit of the dose is unknown, or its code and its name differ.")
		return
	}
	if unit == "" {
		if unit = p.medicine.Unit; !isCounted(unit) {
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
	one := 1.0
	if !isDoses(amount) {
		if len(d.DoseAndRate) != 1 {
			return "", false
		}
		dose := d.DoseAndRate[0].DoseQuantity
		if of := d.DoseAndRate[0].DoseRange; dose == nil && of != nil {
			dose = of.High
		}
		if dose == nil || isDoses(dose) || !sameUnits(amount, dose) {
			return "", false
		}
		one = floatOf(dose.Value)
	}
	switch {
	case one <= 0:
		return "", false
	case one == 1 && hours == 24:
		return amount.Value, true
	}
	return decimalOf(floatOf(amount.Value) / one * 24 / hours), true
}

// sameUnits reports whether two quantities are in the same unit. Units of the
// product that are not named are the same as those that are.
func sameUnits(a, b *Quantity) bool {
	x, okX := unitOrEach(a)
	y, okY := unitOrEach(b)
	switch {
	case !okX || !okY:
		return false
	case x == "" || y == "":
		return (x == "" || isCounted(x)) && (y == "" || isCounted(y))
	}
	return doseCode(x) == doseCode(y)
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
