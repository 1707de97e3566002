package fhir

import (
	"anodyne.example/anodyne/internal/pain"
)

const cpt = "http://www.ama-assn.org/go/cpt"

// procedureCodes are the SNOMED CT codes of the types of procedure that have
// one. Each was found in two public sources: the value sets of French and Thai
// guides for physical therapy, the NHS mental health data set and Synthea for
// cognitive behavioural therapy.
var procedureCodes = snomedCodes{
	{"physical_therapy", "91251008", "Physical therapy procedure"},
	{"cbt", "304891004", "Cognitive behavioral therapy"},
}

func writeProcedure(o *outgoing) error {
	r := Procedure{
		domainResource: o.resource("Procedure", usCore+"us-core-procedure"), Identifier: o.identifier(), Status: "completed",
		Subject: o.subject(), Encounter: o.encounter(), PerformedDateTime: pain.Moment(o.rec.RecordedAt), Note: o.notes(),
		Complication: textConcepts(o.text("complication")),
	}
	if o.rec.Status == pain.EnteredInError {
		r.Status = "entered-in-error"
	} else {
		r.Extension = o.recordStatus()
	}
	if author := o.performers(); author != nil {
		r.Recorder = &author[0]
	}
	r.Code = procedureCodes.concept(o.m, "procedures", "procedure_type", o.text("procedure_type"))
	if code := o.text("cpt_code"); code != "" {
		r.Code.Coding = append(r.Code.Coding, Coding{System: cpt, Code: code})
	}
	if site := o.bodySite(); site != nil {
		r.BodySite = []CodeableConcept{*site}
	}
	if performer := o.text("performer"); performer != "" {
		r.Performer = []ProcedurePerformer{{Actor: &Reference{Display: performer}}}
	}
	r.Extension = append(r.Extension, o.extensions()...)
	return o.add(r.ResourceType, r.ID, r)
}

// readProcedure reads a Procedure. One with a code that we have no type for is
// of the type other, and its code is kept as received.
func readProcedure(in *incoming) {
	var r Procedure
	if !in.decode(&r) {
		return
	}
	in.draft.DataType = pain.TypeProcedures
	switch r.Status {
	case "completed":
		in.readRecordStatus(r.Extension)
	case "entered-in-error":
		in.draft.Status = pain.EnteredInError
	case "not-done":
		in.refuse(NotSupported, "status", "A procedure that was not done is not a procedure record.")
	default:
		in.refuse(NotSupported, "status", "Only procedures with the status completed or entered-in-error are accepted.")
	}
	in.readCommon(r.Identifier, r.Subject, "subject", r.Encounter, references(r.Recorder), "recorder", r.Note)
	switch {
	case r.PerformedDateTime != "":
		in.readMoment(r.PerformedDateTime, "performedDateTime")
	case r.PerformedPeriod != nil && r.PerformedPeriod.Start != "":
		in.readMoment(r.PerformedPeriod.Start, "performedPeriod.start")
	default:
		in.refuse(Required, "performedDateTime", "The time of the procedure is required, as a date or as the start of a period.")
	}
	if r.Code == nil {
		in.refuse(Required, "code", "The code of the procedure is required.")
		return
	}
	in.setText("procedure_type", procedureCodes.word(in.m, "procedures", "procedure_type", r.Code), "code")
	in.setText("cpt_code", r.Code.code(cpt), "code.coding")
	if len(r.BodySite) == 1 {
		in.readBodySite(&r.BodySite[0])
	}
	if len(r.Performer) == 1 && r.Performer[0].Actor != nil {
		in.setText("performer", oneLine(r.Performer[0].Actor.Display), "performer[0].actor.display")
	}
	in.setText("complication", words(r.Complication), "complication")
	in.readExtensions(r.Extension)
}

// readRecordStatus takes the status of the record from the extension that
// recordStatus writes.
func (in *incoming) readRecordStatus(list []Extension) {
	switch status, _ := in.extensionOf(list, "record", "status"); pain.Status(status) {
	case pain.Amended:
		in.draft.Status = pain.Amended
	case pain.EnteredInError:
		in.draft.Status = pain.EnteredInError
	}
}
