package fhir

import "encoding/json"

// MedicationRequest is a MedicationRequest with the elements that we map.
// Others are kept as received, here and in the resources below.
type MedicationRequest struct {
	domainResource
	Identifier                []Identifier       `json:"identifier,omitempty"`
	Status                    string             `json:"status,omitempty"`
	StatusReason              *CodeableConcept   `json:"statusReason,omitempty"`
	Intent                    string             `json:"intent,omitempty"`
	DoNotPerform              bool               `json:"doNotPerform,omitempty"`
	MedicationCodeableConcept *CodeableConcept   `json:"medicationCodeableConcept,omitempty"`
	MedicationReference       *Reference         `json:"medicationReference,omitempty"`
	Subject                   *Reference         `json:"subject,omitempty"`
	Encounter                 *Reference         `json:"encounter,omitempty"`
	AuthoredOn                string             `json:"authoredOn,omitempty"`
	Requester                 *optionalReference `json:"requester,omitempty"`
	Recorder                  *Reference         `json:"recorder,omitempty"`
	ReasonCode                []CodeableConcept  `json:"reasonCode,omitempty"`
	ReasonReference           []Reference        `json:"reasonReference,omitempty"`
	Note                      []Annotation       `json:"note,omitempty"`
	DosageInstruction         []Dosage           `json:"dosageInstruction,omitempty"`
	DispenseRequest           *DispenseRequest   `json:"dispenseRequest,omitempty"`
}

// optionalReference is a reference that may say why there is none.
type optionalReference struct {
	Extension []Extension `json:"extension,omitempty"`
	Reference
}

// DispenseRequest is what a pharmacy is asked to dispense.
type DispenseRequest struct {
	Quantity               *Quantity  `json:"quantity,omitempty"`
	ExpectedSupplyDuration *Quantity  `json:"expectedSupplyDuration,omitempty"`
	Performer              *Reference `json:"performer,omitempty"`
}

// MedicationStatement is a statement that a medicine is, was or will be taken.
type MedicationStatement struct {
	domainResource
	Identifier                []Identifier      `json:"identifier,omitempty"`
	Status                    string            `json:"status,omitempty"`
	StatusReason              []CodeableConcept `json:"statusReason,omitempty"`
	MedicationCodeableConcept *CodeableConcept  `json:"medicationCodeableConcept,omitempty"`
	MedicationReference       *Reference        `json:"medicationReference,omitempty"`
	Subject                   *Reference        `json:"subject,omitempty"`
	Context                   *Reference        `json:"context,omitempty"`
	EffectiveDateTime         string            `json:"effectiveDateTime,omitempty"`
	EffectivePeriod           *Period           `json:"effectivePeriod,omitempty"`
	DateAsserted              string            `json:"dateAsserted,omitempty"`
	InformationSource         *Reference        `json:"informationSource,omitempty"`
	ReasonCode                []CodeableConcept `json:"reasonCode,omitempty"`
	ReasonReference           []Reference       `json:"reasonReference,omitempty"`
	Note                      []Annotation      `json:"note,omitempty"`
	Dosage                    []Dosage          `json:"dosage,omitempty"`
}

// Procedure is an intervention or a course of therapy.
type Procedure struct {
	domainResource
	Identifier        []Identifier         `json:"identifier,omitempty"`
	Status            string               `json:"status,omitempty"`
	Code              *CodeableConcept     `json:"code,omitempty"`
	Subject           *Reference           `json:"subject,omitempty"`
	Encounter         *Reference           `json:"encounter,omitempty"`
	PerformedDateTime string               `json:"performedDateTime,omitempty"`
	PerformedPeriod   *Period              `json:"performedPeriod,omitempty"`
	Recorder          *Reference           `json:"recorder,omitempty"`
	Performer         []ProcedurePerformer `json:"performer,omitempty"`
	BodySite          []CodeableConcept    `json:"bodySite,omitempty"`
	Complication      []CodeableConcept    `json:"complication,omitempty"`
	Note              []Annotation         `json:"note,omitempty"`
}

// ProcedurePerformer is who carried out a procedure.
type ProcedurePerformer struct {
	Actor *Reference `json:"actor,omitempty"`
}

// AdverseEvent is something unwanted that happened.
type AdverseEvent struct {
	domainResource
	ModifierExtension []Extension      `json:"modifierExtension,omitempty"`
	Identifier        *Identifier      `json:"identifier,omitempty"`
	Actuality         string           `json:"actuality,omitempty"`
	Event             *CodeableConcept `json:"event,omitempty"`
	Subject           *Reference       `json:"subject,omitempty"`
	Encounter         *Reference       `json:"encounter,omitempty"`
	Date              string           `json:"date,omitempty"`
	Detected          string           `json:"detected,omitempty"`
	RecordedDate      string           `json:"recordedDate,omitempty"`
	Seriousness       *CodeableConcept `json:"seriousness,omitempty"`
	Severity          *CodeableConcept `json:"severity,omitempty"`
	Outcome           *CodeableConcept `json:"outcome,omitempty"`
	Recorder          *Reference       `json:"recorder,omitempty"`
	SuspectEntity     []SuspectEntity  `json:"suspectEntity,omitempty"`
}

// SuspectEntity is what may have caused an adverse event.
type SuspectEntity struct {
	Instance *Reference `json:"instance,omitempty"`
}

// DocumentReference is a document, which for us is a text.
type DocumentReference struct {
	domainResource
	Identifier  []Identifier      `json:"identifier,omitempty"`
	Status      string            `json:"status,omitempty"`
	DocStatus   string            `json:"docStatus,omitempty"`
	Type        *CodeableConcept  `json:"type,omitempty"`
	Category    []CodeableConcept `json:"category,omitempty"`
	Subject     *Reference        `json:"subject,omitempty"`
	Date        string            `json:"date,omitempty"`
	Author      []Reference       `json:"author,omitempty"`
	Description string            `json:"description,omitempty"`
	Content     []DocumentContent `json:"content,omitempty"`
	Context     *DocumentContext  `json:"context,omitempty"`
}

// DocumentContent is a document in one format.
type DocumentContent struct {
	Attachment Attachment `json:"attachment"`
}

// Attachment is data with a type. The data are text, so that a wrong encoding
// is found where it is.
type Attachment struct {
	ContentType string `json:"contentType,omitempty"`
	Data        string `json:"data,omitempty"`
	URL         string `json:"url,omitempty"`
}

// DocumentContext is where a document was written.
type DocumentContext struct {
	Encounter []Reference `json:"encounter,omitempty"`
}

// QuestionnaireResponse is an answered questionnaire.
type QuestionnaireResponse struct {
	domainResource
	Identifier    *Identifier    `json:"identifier,omitempty"`
	Questionnaire string         `json:"questionnaire,omitempty"`
	Status        string         `json:"status,omitempty"`
	Subject       *Reference     `json:"subject,omitempty"`
	Encounter     *Reference     `json:"encounter,omitempty"`
	Authored      string         `json:"authored,omitempty"`
	Author        *Reference     `json:"author,omitempty"`
	Item          []ResponseItem `json:"item,omitempty"`
}

// ResponseItem is a group or an answered question.
type ResponseItem struct {
	LinkID string           `json:"linkId"`
	Answer []ResponseAnswer `json:"answer,omitempty"`
	Item   []ResponseItem   `json:"item,omitempty"`
}

// ResponseAnswer is an answer. Values of other types are not taken for the
// items of our instruments.
type ResponseAnswer struct {
	ValueBoolean  *bool           `json:"valueBoolean,omitempty"`
	ValueInteger  json.Number     `json:"valueInteger,omitempty"`
	ValueDecimal  json.Number     `json:"valueDecimal,omitempty"`
	ValueCoding   *AnswerCoding   `json:"valueCoding,omitempty"`
	ValueQuantity *Quantity       `json:"valueQuantity,omitempty"`
	ValueString   json.RawMessage `json:"valueString,omitempty"`
	Item          []ResponseItem  `json:"item,omitempty"`
}

// AnswerCoding is a coded answer, which may have its score as an extension.
type AnswerCoding struct {
	Extension []Extension `json:"extension,omitempty"`
	System    string      `json:"system,omitempty"`
	Code      string      `json:"code,omitempty"`
	Display   string      `json:"display,omitempty"`
}

// Questionnaire is a form. Ours have codes and ranges, and no wording.
type Questionnaire struct {
	ResourceType string              `json:"resourceType"`
	ID           string              `json:"id,omitempty"`
	URL          string              `json:"url,omitempty"`
	Version      string              `json:"version,omitempty"`
	Name         string              `json:"name,omitempty"`
	Title        string              `json:"title,omitempty"`
	Status       string              `json:"status,omitempty"`
	Experimental bool                `json:"experimental"`
	SubjectType  []string            `json:"subjectType,omitempty"`
	Description  string              `json:"description,omitempty"`
	Copyright    string              `json:"copyright,omitempty"`
	Code         []Coding            `json:"code,omitempty"`
	Item         []QuestionnaireItem `json:"item,omitempty"`
}

// QuestionnaireItem is a question.
type QuestionnaireItem struct {
	Extension []Extension `json:"extension,omitempty"`
	LinkID    string      `json:"linkId"`
	Code      []Coding    `json:"code,omitempty"`
	Text      string      `json:"text,omitempty"`
	Type      string      `json:"type"`
	Required  bool        `json:"required"`
}
