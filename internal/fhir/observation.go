package fhir

import "encoding/json"

// Observation is an Observation with the elements that we map. Others are kept
// as received.
type Observation struct {
	domainResource
	Identifier           []Identifier           `json:"identifier,omitempty"`
	Status               string                 `json:"status,omitempty"`
	Category             []CodeableConcept      `json:"category,omitempty"`
	Code                 *CodeableConcept       `json:"code,omitempty"`
	Subject              *Reference             `json:"subject,omitempty"`
	Encounter            *Reference             `json:"encounter,omitempty"`
	EffectiveDateTime    string                 `json:"effectiveDateTime,omitempty"`
	EffectivePeriod      *Period                `json:"effectivePeriod,omitempty"`
	EffectiveInstant     string                 `json:"effectiveInstant,omitempty"`
	Issued               string                 `json:"issued,omitempty"`
	Performer            []Reference            `json:"performer,omitempty"`
	ValueQuantity        *Quantity              `json:"valueQuantity,omitempty"`
	ValueCodeableConcept *CodeableConcept       `json:"valueCodeableConcept,omitempty"`
	ValueString          string                 `json:"valueString,omitempty"`
	ValueInteger         json.Number            `json:"valueInteger,omitempty"`
	DataAbsentReason     *CodeableConcept       `json:"dataAbsentReason,omitempty"`
	Interpretation       []CodeableConcept      `json:"interpretation,omitempty"`
	Note                 []Annotation           `json:"note,omitempty"`
	BodySite             *CodeableConcept       `json:"bodySite,omitempty"`
	Method               *CodeableConcept       `json:"method,omitempty"`
	ReferenceRange       []ReferenceRange       `json:"referenceRange,omitempty"`
	DerivedFrom          []Reference            `json:"derivedFrom,omitempty"`
	Component            []ObservationComponent `json:"component,omitempty"`
}

// ReferenceRange is what values are usual.
type ReferenceRange struct {
	Low       *Quantity         `json:"low,omitempty"`
	High      *Quantity         `json:"high,omitempty"`
	Type      *CodeableConcept  `json:"type,omitempty"`
	AppliesTo []CodeableConcept `json:"appliesTo,omitempty"`
	Age       json.RawMessage   `json:"age,omitempty"`
}

// ObservationComponent is one of several results of an Observation.
type ObservationComponent struct {
	Code                 *CodeableConcept `json:"code,omitempty"`
	ValueQuantity        *Quantity        `json:"valueQuantity,omitempty"`
	ValueCodeableConcept *CodeableConcept `json:"valueCodeableConcept,omitempty"`
	ValueString          string           `json:"valueString,omitempty"`
	ValueInteger         json.Number      `json:"valueInteger,omitempty"`
	DataAbsentReason     *CodeableConcept `json:"dataAbsentReason,omitempty"`
}
