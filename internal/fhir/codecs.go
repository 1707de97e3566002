package fhir

import "encoding/json"

// The codecs, with the fields of the structs in order.
var (
	metaCodec        codec[Meta]
	identifierCodec  codec[Identifier]
	referenceCodec   codec[Reference]
	codingCodec      codec[Coding]
	conceptCodec     codec[CodeableConcept]
	quantityCodec    codec[Quantity]
	periodCodec      codec[Period]
	annotationCodec  codec[Annotation]
	extensionCodec   codec[Extension]
	rangeCodec       codec[ReferenceRange]
	componentCodec   codec[ObservationComponent]
	observationCodec codec[Observation]
)

// appender is a resource with a codec.
type appender interface {
	appendResource(b []byte) []byte
}

func (o *Observation) appendResource(b []byte) []byte { return observationCodec.append(b, o) }

func init() { // they refer to each other
	metaCodec = codec[Meta]{
		textField("versionId", func(v *Meta) *string { return &v.VersionID }),
		textField("lastUpdated", func(v *Meta) *string { return &v.LastUpdated }),
		textsField("profile", func(v *Meta) *[]string { return &v.Profile }),
		listField("tag", &codingCodec, func(v *Meta) *[]Coding { return &v.Tag }),
	}
	identifierCodec = codec[Identifier]{
		textField("system", func(v *Identifier) *string { return &v.System }),
		textField("value", func(v *Identifier) *string { return &v.Value }),
	}
	referenceCodec = codec[Reference]{
		textField("reference", func(v *Reference) *string { return &v.Reference }),
		textField("type", func(v *Reference) *string { return &v.Type }),
		objectField("identifier", &identifierCodec, func(v *Reference) **Identifier { return &v.Identifier }),
		textField("display", func(v *Reference) *string { return &v.Display }),
	}
	codingCodec = codec[Coding]{
		textField("system", func(v *Coding) *string { return &v.System }),
		textField("code", func(v *Coding) *string { return &v.Code }),
		textField("display", func(v *Coding) *string { return &v.Display }),
	}
	conceptCodec = codec[CodeableConcept]{
		listField("extension", &extensionCodec, func(v *CodeableConcept) *[]Extension { return &v.Extension }),
		listField("coding", &codingCodec, func(v *CodeableConcept) *[]Coding { return &v.Coding }),
		textField("text", func(v *CodeableConcept) *string { return &v.Text }),
	}
	quantityCodec = codec[Quantity]{
		numberField("value", func(v *Quantity) *json.Number { return &v.Value }),
		textField("comparator", func(v *Quantity) *string { return &v.Comparator }),
		textField("unit", func(v *Quantity) *string { return &v.Unit }),
		textField("system", func(v *Quantity) *string { return &v.System }),
		textField("code", func(v *Quantity) *string { return &v.Code }),
	}
	periodCodec = codec[Period]{
		textField("start", func(v *Period) *string { return &v.Start }),
		textField("end", func(v *Period) *string { return &v.End }),
	}
	annotationCodec = codec[Annotation]{
		textField("text", func(v *Annotation) *string { return &v.Text }),
	}
	extensionCodec = codec[Extension]{
		textField("url", func(v *Extension) *string { return &v.URL }),
		listField("extension", &extensionCodec, func(v *Extension) *[]Extension { return &v.Extension }),
		textField("valueString", func(v *Extension) *string { return &v.ValueString }),
		textField("valueCode", func(v *Extension) *string { return &v.ValueCode }),
		textField("valueDate", func(v *Extension) *string { return &v.ValueDate }),
		numberField("valueDecimal", func(v *Extension) *json.Number { return &v.ValueDecimal }),
		numberField("valueInteger", func(v *Extension) *json.Number { return &v.ValueInteger }),
		flagField("valueBoolean", func(v *Extension) **bool { return &v.ValueBoolean }),
		binaryField("valueBase64Binary", func(v *Extension) *binary { return &v.ValueBase64Binary }),
	}
	rangeCodec = codec[ReferenceRange]{
		objectField("low", &quantityCodec, func(v *ReferenceRange) **Quantity { return &v.Low }),
		objectField("high", &quantityCodec, func(v *ReferenceRange) **Quantity { return &v.High }),
		objectField("type", &conceptCodec, func(v *ReferenceRange) **CodeableConcept { return &v.Type }),
		listField("appliesTo", &conceptCodec, func(v *ReferenceRange) *[]CodeableConcept { return &v.AppliesTo }),
		rawField("age", func(v *ReferenceRange) *json.RawMessage { return &v.Age }),
	}
	componentCodec = codec[ObservationComponent]{
		objectField("code", &conceptCodec, func(v *ObservationComponent) **CodeableConcept { return &v.Code }),
		objectField("valueQuantity", &quantityCodec, func(v *ObservationComponent) **Quantity { return &v.ValueQuantity }),
		objectField("valueCodeableConcept", &conceptCodec, func(v *ObservationComponent) **CodeableConcept { return &v.ValueCodeableConcept }),
		textField("valueString", func(v *ObservationComponent) *string { return &v.ValueString }),
		numberField("valueInteger", func(v *ObservationComponent) *json.Number { return &v.ValueInteger }),
		objectField("dataAbsentReason", &conceptCodec, func(v *ObservationComponent) **CodeableConcept { return &v.DataAbsentReason }),
	}
	observationCodec = codec[Observation]{
		textField("resourceType", func(v *Observation) *string { return &v.ResourceType }),
		textField("id", func(v *Observation) *string { return &v.ID }),
		objectField("meta", &metaCodec, func(v *Observation) **Meta { return &v.Meta }),
		listField("extension", &extensionCodec, func(v *Observation) *[]Extension { return &v.Extension }),
		listField("identifier", &identifierCodec, func(v *Observation) *[]Identifier { return &v.Identifier }),
		textField("status", func(v *Observation) *string { return &v.Status }),
		listField("category", &conceptCodec, func(v *Observation) *[]CodeableConcept { return &v.Category }),
		objectField("code", &conceptCodec, func(v *Observation) **CodeableConcept { return &v.Code }),
		objectField("subject", &referenceCodec, func(v *Observation) **Reference { return &v.Subject }),
		objectField("encounter", &referenceCodec, func(v *Observation) **Reference { return &v.Encounter }),
		textField("effectiveDateTime", func(v *Observation) *string { return &v.EffectiveDateTime }),
		objectField("effectivePeriod", &periodCodec, func(v *Observation) **Period { return &v.EffectivePeriod }),
		textField("effectiveInstant", func(v *Observation) *string { return &v.EffectiveInstant }),
		textField("issued", func(v *Observation) *string { return &v.Issued }),
		listField("performer", &referenceCodec, func(v *Observation) *[]Reference { return &v.Performer }),
		objectField("valueQuantity", &quantityCodec, func(v *Observation) **Quantity { return &v.ValueQuantity }),
		objectField("valueCodeableConcept", &conceptCodec, func(v *Observation) **CodeableConcept { return &v.ValueCodeableConcept }),
		textField("valueString", func(v *Observation) *string { return &v.ValueString }),
		numberField("valueInteger", func(v *Observation) *json.Number { return &v.ValueInteger }),
		objectField("dataAbsentReason", &conceptCodec, func(v *Observation) **CodeableConcept { return &v.DataAbsentReason }),
		listField("interpretation", &conceptCodec, func(v *Observation) *[]CodeableConcept { return &v.Interpretation }),
		listField("note", &annotationCodec, func(v *Observation) *[]Annotation { return &v.Note }),
		objectField("bodySite", &conceptCodec, func(v *Observation) **CodeableConcept { return &v.BodySite }),
		objectField("method", &conceptCodec, func(v *Observation) **CodeableConcept { return &v.Method }),
		listField("referenceRange", &rangeCodec, func(v *Observation) *[]ReferenceRange { return &v.ReferenceRange }),
		listField("derivedFrom", &referenceCodec, func(v *Observation) *[]Reference { return &v.DerivedFrom }),
		listField("component", &componentCodec, func(v *Observation) *[]ObservationComponent { return &v.Component }),
	}
}
