package fhir

import (
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

const (
	rxNorm              = "http://www.nlm.nih.gov/research/umls/rxnorm"
	ndcSystem           = "http://hl7.org/fhir/sid/ndc"
	dataAbsentExtension = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
	medicationRequest   = "MedicationRequest"
	medicationStatement = "MedicationStatement"
)

// As returns a mapping that writes medications as resources of a type:
// MedicationRequest, which is the default, or MedicationStatement, for those
// that were received as one. Other types change nothing.
func (m Mapping) As(resourceType string) Mapping {
	m.statements = resourceType == medicationStatement
	return m
}

func writeMedication(o *outgoing) error {
	v, err := pain.ReadMedication(o.rec.Value)
	if err != nil {
		return err
	}
	if o.m.statements {
		return o.writeMedicationStatement(&v)
	}
	r := MedicationRequest{
		domainResource: o.resource(medicationRequest, usCore+"us-core-medicationrequest"), Identifier: o.identifier(),
		Intent: "order", MedicationCodeableConcept: o.medicine(), Subject: o.subject(), Encounter: o.encounter(),
		AuthoredOn: pain.Moment(o.rec.RecordedAt), Note: o.notes(), ReasonCode: textConcepts(o.text("indication")),
	}
	r.Status, r.Extension = o.medicationStatus()
	if reason := o.text("stop_reason"); reason != "" {
		r.StatusReason = &CodeableConcept{Text: reason}
	}
	if prescriber := o.text("prescriber_id"); prescriber != "" {
		r.Requester = &optionalReference{Reference: o.party("prescriber", prescriber)}
	} else { // US Core requires the element for an order
		r.Requester = &optionalReference{Extension: []Extension{{URL: dataAbsentExtension, ValueCode: "unknown"}}}
	}
	if author := o.performers(); author != nil {
		r.Recorder = &author[0]
	}
	dosage := o.dosage(&v)
	if bounds := o.bounds(); bounds != nil {
		if dosage.Timing == nil {
			dosage.Timing = &Timing{}
		}
		if dosage.Timing.Repeat == nil {
			dosage.Timing.Repeat = &Repeat{}
		}
		dosage.Timing.Repeat.BoundsPeriod = bounds
	}
	if !dosage.empty() {
		r.DosageInstruction = []Dosage{dosage}
	}
	r.DispenseRequest = o.dispense()
	r.Extension = append(r.Extension, o.extensions()...)
	return o.add(r.ResourceType, r.ID, r)
}

func (o *outgoing) writeMedicationStatement(v *pain.Medication) error {
	r := MedicationStatement{
		domainResource: o.resource(medicationStatement), Identifier: o.identifier(),
		MedicationCodeableConcept: o.medicine(), Subject: o.subject(), Context: o.encounter(), EffectivePeriod: o.bounds(),
		DateAsserted: pain.Moment(o.rec.RecordedAt), Note: o.notes(),
		ReasonCode: textConcepts(o.text("indication")), StatusReason: textConcepts(o.text("stop_reason")),
	}
	r.Status, r.Extension = o.medicationStatus()
	if r.Status == "cancelled" || r.Status == "draft" { // not statuses of a MedicationStatement
		r.Extension = append(r.Extension, Extension{URL: o.m.extensionURL("medications", "status"), ValueCode: r.Status})
		r.Status = "unknown"
	}
	if author := o.performers(); author != nil {
		r.InformationSource = &author[0]
	}
	if dosage := o.dosage(v); !dosage.empty() {
		r.Dosage = []Dosage{dosage}
	}
	r.Extension = append(r.Extension, o.extensions()...)
	return o.add(r.ResourceType, r.ID, r)
}

// medicationStatus returns the status of the resource, which is that of the
// medicine, or that of a record entered in error. A medicine without a status
// has the status unknown. Extensions tell apart what the one element cannot.
func (o *outgoing) medicationStatus() (status string, list []Extension) {
	stated := o.text("status")
	status = stated
	if stated == "" {
		status = "unknown"
	}
	inError := o.rec.Status == pain.EnteredInError
	if inError {
		status = "entered-in-error"
	}
	if stated != "" && (stated == "unknown" || stated == "entered-in-error" || status != stated) {
		list = append(list, Extension{URL: o.m.extensionURL("medications", "status"), ValueCode: stated})
	}
	return status, append(list, o.recordStatus()...)
}

// recordStatus is the extension with the status of a record whose resource has
// no element for it.
func (o *outgoing) recordStatus() []Extension {
	if status := o.status(); status != string(pain.Final) {
		return []Extension{{URL: o.m.extensionURL("record", "status"), ValueCode: status}}
	}
	return nil
}

// medicine is the name with the codes.
func (o *outgoing) medicine() *CodeableConcept {
	concept := &CodeableConcept{Text: o.text("name")}
	if code := o.text("rxnorm_code"); code != "" {
		concept.Coding = append(concept.Coding, Coding{System: rxNorm, Code: code})
	}
	if code := o.text("ndc"); code != "" {
		concept.Coding = append(concept.Coding, Coding{System: ndcSystem, Code: code})
	}
	return concept
}

// party refers to somebody by an identifier of the organisation.
func (o *outgoing) party(role, value string) Reference {
	return Reference{Identifier: &Identifier{System: o.m.base() + "/" + role, Value: value}}
}

func textConcepts(text string) []CodeableConcept {
	if text == "" {
		return nil
	}
	return []CodeableConcept{{Text: text}}
}

// bounds are the days between which the medicine is taken, or nil.
func (o *outgoing) bounds() *Period {
	period := Period{Start: o.text("start_date"), End: o.text("end_date")}
	if period == (Period{}) {
		return nil
	}
	return &period
}

// dosage is how the medicine is taken.
func (o *outgoing) dosage(v *pain.Medication) (d Dosage) {
	if route := o.text("route"); route != "" {
		d.Route = routeConcept(route)
	}
	if prn, ok := v.PRN.Get(); ok {
		o.value.Bool("prn")
		d.AsNeededBoolean = &prn
	}
	if dose := o.number("dose"); dose != "" {
		q := doseQuantity(dose, o.text("dose_unit"))
		if q.Code == perHour {
			d.DoseAndRate = []DoseAndRate{{RateQuantity: q}}
		} else {
			d.DoseAndRate = []DoseAndRate{{DoseQuantity: q}}
		}
	}
	if most := o.number("max_doses_per_day"); most != "" {
		d.MaxDosePerPeriod = &Ratio{
			Numerator:   &Quantity{Value: most, Unit: "dose", System: ucum, Code: "{dose}"},
			Denominator: &Quantity{Value: "1", Unit: "day", System: ucum, Code: "d"},
		}
	}
	d.Timing = o.timing(v)
	return d
}

// timing is how often the medicine is taken. The doses per day stay in an
// extension if the schedule does not give the same number.
func (o *outgoing) timing(v *pain.Medication) *Timing {
	var t Timing
	if v.Frequency != "" {
		t.Code = frequencyConcept(o.text("frequency"))
	}
	var repeat Repeat
	if stated, ok := v.DosesPerDay.Get(); ok {
		repeat.schedule(stated, stated)
		if n, ok := repeat.dosesPerDay(v.Frequency); ok && n == stated {
			o.number("doses_per_day")
		}
	} else if fewest, most, ok := drug.PerDay(v.Frequency); ok {
		repeat.schedule(fewest, most)
	}
	if repeat.Frequency > 0 {
		t.Repeat = &repeat
	}
	if t.Repeat == nil && t.Code == nil {
		return nil
	}
	return &t
}

// dispense is what was dispensed, or nil.
func (o *outgoing) dispense() *DispenseRequest {
	var d DispenseRequest
	if quantity := o.number("quantity"); quantity != "" {
		d.Quantity = &Quantity{Value: quantity}
	}
	if days := o.number("days_supply"); days != "" {
		d.ExpectedSupplyDuration = &Quantity{Value: days, Unit: "days", System: ucum, Code: "d"}
	}
	if pharmacy := o.text("pharmacy_id"); pharmacy != "" {
		party := o.party("pharmacy", pharmacy)
		d.Performer = &party
	}
	if d == (DispenseRequest{}) {
		return nil
	}
	return &d
}

func (d *Dosage) empty() bool {
	return d.Timing == nil && d.AsNeededBoolean == nil && d.Route == nil && d.DoseAndRate == nil && d.MaxDosePerPeriod == nil
}
