package fhir

import "encoding/json"

// Dosage is how a medicine is taken, as far as we read and write it.
type Dosage struct {
	Text                    string           `json:"text,omitempty"`
	Timing                  *Timing          `json:"timing,omitempty"`
	AsNeededBoolean         *bool            `json:"asNeededBoolean,omitempty"`
	AsNeededCodeableConcept *CodeableConcept `json:"asNeededCodeableConcept,omitempty"`
	Route                   *CodeableConcept `json:"route,omitempty"`
	DoseAndRate             []DoseAndRate    `json:"doseAndRate,omitempty"`
	MaxDosePerPeriod        *Ratio           `json:"maxDosePerPeriod,omitempty"`
}

// DoseAndRate is an amount for each dose, or a rate.
type DoseAndRate struct {
	DoseQuantity *Quantity       `json:"doseQuantity,omitempty"`
	DoseRange    *Range          `json:"doseRange,omitempty"`
	RateQuantity *Quantity       `json:"rateQuantity,omitempty"`
	RateRange    json.RawMessage `json:"rateRange,omitempty"`
	RateRatio    json.RawMessage `json:"rateRatio,omitempty"`
}

// Range is a range of quantities.
type Range struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
}

// Ratio is a quantity for each other quantity.
type Ratio struct {
	Numerator   *Quantity `json:"numerator,omitempty"`
	Denominator *Quantity `json:"denominator,omitempty"`
}

// Timing is when something happens.
type Timing struct {
	Event  []string         `json:"event,omitempty"`
	Repeat *Repeat          `json:"repeat,omitempty"`
	Code   *CodeableConcept `json:"code,omitempty"`
}

// Repeat is how often something happens, and between which days.
type Repeat struct {
	BoundsPeriod   *Period         `json:"boundsPeriod,omitempty"`
	BoundsDuration *Quantity       `json:"boundsDuration,omitempty"`
	BoundsRange    json.RawMessage `json:"boundsRange,omitempty"`
	Frequency      int             `json:"frequency,omitempty"`
	FrequencyMax   int             `json:"frequencyMax,omitempty"`
	Period         json.Number     `json:"period,omitempty"`
	PeriodMax      json.Number     `json:"periodMax,omitempty"`
	PeriodUnit     string          `json:"periodUnit,omitempty"`
	DayOfWeek      []string        `json:"dayOfWeek,omitempty"`
	TimeOfDay      []string        `json:"timeOfDay,omitempty"`
	When           []string        `json:"when,omitempty"`
}
