package fhir

import (
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// readObservation reads an Observation as a record of the data type that takes
// it.
func readObservation(in *incoming) {
	var o Observation
	observationCodec.decode(in.root.Value, &o)
	for i := range observationReaders {
		reader := &observationReaders[i]
		if !reader.takes(in, &o) {
			continue
		}
		in.draft.DataType = reader.dataType
		if o.DataAbsentReason != nil && in.hasValue() {
			in.refuse(Invalid, "dataAbsentReason", "An Observation with a value must not say why it has none.")
		}
		in.readObservationStatus(o.Status)
		in.readCommon(o.Identifier, o.Subject, "subject", o.Encounter, o.Performer, "performer", o.Note)
		in.readEffective(&o)
		reader.read(in, &o)
		in.readExtensions(o.Extension)
		return
	}
	in.refuse(NotSupported, "code", "This service has no data type for Observations with this code.")
}

// hasValue reports whether an Observation has a value of any type.
func (in *incoming) hasValue() bool {
	for name := range in.root.All() {
		if !strings.HasPrefix(name, "_") && stem("Observation", name) == "value" {
			return true
		}
	}
	return false
}

func (in *incoming) readObservationStatus(status string) {
	switch status {
	case "final":
		in.draft.Status = pain.Final
	case "amended", "corrected":
		in.draft.Status = pain.Amended
	case "entered-in-error":
		in.draft.Status = pain.EnteredInError
	default:
		in.refuse(NotSupported, "status", "Only Observations with the status final, amended, corrected or entered-in-error are accepted.")
	}
}

func (in *incoming) readEffective(o *Observation) {
	switch {
	case o.EffectiveDateTime != "":
		in.readMoment(o.EffectiveDateTime, "effectiveDateTime")
	case o.EffectiveInstant != "":
		in.readMoment(o.EffectiveInstant, "effectiveInstant")
	case o.EffectivePeriod != nil && o.EffectivePeriod.Start != "":
		in.readMoment(o.EffectivePeriod.Start, "effectivePeriod.start")
	case o.Issued != "":
		in.readMoment(o.Issued, "issued")
	default:
		in.refuse(Required, "effectiveDateTime", "The time of the Observation is required.")
	}
}

// code returns the code of a concept in a code system, or "".
func (c *CodeableConcept) code(system string) string {
	if c == nil {
		return ""
	}
	for i := range c.Coding {
		if c.Coding[i].System == system {
			return c.Coding[i].Code
		}
	}
	return ""
}

// has reports whether a concept has a code.
func (c *CodeableConcept) has(system, code string) bool {
	if c == nil {
		return false
	}
	for i := range c.Coding {
		if c.Coding[i].System == system && c.Coding[i].Code == code {
			return true
		}
	}
	return false
}

// nameAt returns the text of a concept, or else the first display or code, and
// the element that it came from.
func (c *CodeableConcept) nameAt() (name, at string) {
	if c == nil {
		return "", "code"
	}
	if !blank(c.Text) {
		return strings.TrimSpace(c.Text), "code.text"
	}
	for i, coding := range c.Coding {
		if !blank(coding.Display) {
			return strings.TrimSpace(coding.Display), "code.coding" + index(i) + ".display"
		}
	}
	for i, coding := range c.Coding {
		if coding.Code != "" {
			return coding.Code, "code.coding" + index(i) + ".code"
		}
	}
	return "", "code"
}
