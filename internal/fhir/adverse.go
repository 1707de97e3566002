package fhir

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

const (
	seriousnessSystem = "http://terminology.hl7.org/CodeSystem/adverse-event-seriousness"
	severitySystem    = "http://terminology.hl7.org/CodeSystem/adverse-event-severity"
	outcomeSystem     = "http://terminology.hl7.org/CodeSystem/adverse-event-outcome"
)

// eventCodes are the SNOMED CT codes of the adverse events that have one. Each
// was found in two public sources or more. Sedation, respiratory depression
// and withdrawal have none here, because none was confirmed.
var eventCodes = snomedCodes{
	{"constipation", "14760008", "Constipation"},
	{"nausea", "422587007", "Nausea"},
	{"dizziness", "404640003", "Dizziness"},
	{"pruritus", "418363000", "Itching of skin"},
	{"fall", "1912002", "Fall"},
	{"overdose", "1149222004", "Overdose"},
	{"infection", "40733004", "Infectious disease"},
}

// outcomes are the words of HL7 for outcomes. Other outcomes of ours are in an
// extension.
var outcomes = []string{"resolved", "recovering", "ongoing", "resolvedWithSequelae", "fatal", "unknown"}

// severities are HL7's words for the grades 1 to 3.
var severities = []string{"mild", "moderate", "severe"}

func writeAdverseEvent(o *outgoing) error {
	v, err := pain.ReadAdverseEvent(o.rec.Value)
	if err != nil {
		return err
	}
	identifier := o.identifier()
	r := AdverseEvent{
		domainResource: o.resource("AdverseEvent"), Identifier: &identifier[0], Actuality: "actual",
		Subject: o.subject(), Encounter: o.encounter(), Date: pain.Moment(o.rec.RecordedAt),
	}
	if o.rec.Status == pain.EnteredInError {
		r.ModifierExtension = []Extension{o.m.inErrorModifier()}
	} else {
		r.Extension = o.recordStatus()
	}
	if author := o.performers(); author != nil {
		r.Recorder = &author[0]
	}
	r.Event = eventCodes.concept(o.m, "adverse_events", "event", o.text("event"))
	if serious, ok := o.value.Bool("serious"); ok {
		code := "Non-serious"
		if serious {
			code = "Serious"
		}
		r.Seriousness = concept(seriousnessSystem, code)
	}
	if grade, ok := v.Grade.Get(); ok { // the grade itself is in an extension
		r.Severity = concept(severitySystem, severityOf(int(grade)))
	}
	if slices.Contains(outcomes, v.Outcome) {
		r.Outcome = concept(outcomeSystem, o.text("outcome"))
	}
	if drug := o.text("suspected_drug"); drug != "" {
		r.SuspectEntity = []SuspectEntity{{Instance: &Reference{Display: drug}}}
	}
	r.Extension = append(r.Extension, o.notesExtension()...)
	r.Extension = append(r.Extension, o.extensions()...)
	return o.add(r.ResourceType, r.ID, r)
}

// inErrorModifier is a modifier extension: the record was entered in error.
// AdverseEvent has no status that says so.
func (m *Mapping) inErrorModifier() Extension {
	return Extension{URL: m.extensionURL("record", "status"), ValueCode: string(pain.EnteredInError)}
}

func severityOf(grade int) string { return severities[min(max(grade, 1), len(severities))-1] }

// notesExtension is the extension with the notes of a record whose resource
// has no element for them.
func (o *outgoing) notesExtension() []Extension {
	if o.notes() == nil { // none, or in the extensions that every record has
		return nil
	}
	return []Extension{textExtension(o.m.extensionURL("record", "notes"), o.rec.Notes)}
}

func readAdverseEvent(in *incoming) {
	var r AdverseEvent
	if !in.decode(&r) {
		return
	}
	in.draft.DataType = pain.TypeAdverseEvents
	if r.Actuality != "actual" {
		in.refuse(NotSupported, "actuality", "Only adverse events that happened are accepted.")
	}
	in.readRecordStatus(r.Extension)
	in.readRecordStatus(r.ModifierExtension)
	var identifiers []Identifier
	if r.Identifier != nil {
		identifiers = append(identifiers, *r.Identifier)
	}
	in.readCommon(identifiers, r.Subject, "subject", r.Encounter, references(r.Recorder), "recorder", nil)
	in.readEventDate(&r)
	if r.Event == nil {
		in.refuse(Required, "event", "The adverse event is required.")
		return
	}
	in.setText("event", eventCodes.word(in.m, "adverse_events", "event", r.Event), "event")
	in.readSeriousness(r.Seriousness)
	in.readSeverity(r.Severity, r.Extension)
	if r.Outcome != nil {
		outcome := r.Outcome.words()
		if code := r.Outcome.code(outcomeSystem); code != "" && strings.TrimSpace(r.Outcome.Text) == "" {
			outcome = code
		}
		in.setText("outcome", outcome, "outcome")
	}
	var drugs []string
	for _, entity := range r.SuspectEntity {
		if entity.Instance != nil && entity.Instance.Display != "" {
			drugs = append(drugs, oneLine(entity.Instance.Display))
		}
	}
	in.setText("suspected_drug", strings.Join(drugs, "; "), "suspectEntity")
	in.readExtensions(r.Extension)
}

// readEventDate takes the time of the event. One that is known only by month or
// year is the onset, and the time of the record is that of its detection.
func (in *incoming) readEventDate(r *AdverseEvent) {
	const day = len("YYYY-MM-DD")
	if onset, _ := in.extensionOf(r.Extension, "adverse_events", "onset"); onset == "" && r.Date != "" && len(r.Date) < day {
		in.setText("onset", r.Date, "date")
	}
	switch {
	case len(r.Date) >= day:
		in.readMoment(r.Date, "date")
	case len(r.Detected) >= day:
		in.readMoment(r.Detected, "detected")
	case len(r.RecordedDate) >= day:
		in.readMoment(r.RecordedDate, "recordedDate")
	default:
		in.refuse(Required, "date", "A full date is required: of the event, of its detection or of its recording.")
	}
}

func (in *incoming) readSeriousness(c *CodeableConcept) {
	switch code := c.code(seriousnessSystem); {
	case strings.EqualFold(code, "Non-serious"):
		in.setJSON("serious", []byte("false"), "seriousness")
	case len(code) >= len("Serious") && strings.EqualFold(code[:len("Serious")], "Serious"):
		in.setJSON("serious", []byte("true"), "seriousness")
	}
}

// readSeverity takes the grade from the severity, unless the extension has it.
func (in *incoming) readSeverity(c *CodeableConcept, list []Extension) {
	code := c.code(severitySystem)
	grade, _ := in.extensionOf(list, "adverse_events", "grade")
	at := slices.Index(severities, code)
	switch {
	case at < 0:
	case grade == "":
		in.setNumber("grade", json.Number(strconv.Itoa(at+1)), "severity")
	case severityOf(int(floatOf(json.Number(grade)))) != code:
		in.refuse(BusinessRule, "severity", "The severity must agree with the extension for the grade; change both, or remove the extension.")
	}
}
