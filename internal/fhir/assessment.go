package fhir

import (
	"encoding/json"
	"strconv"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
)

// writeAssessment maps an assessment to its score, an Observation. If the
// service scored it from items, these are a QuestionnaireResponse, from which
// the Observation is derived, and which has the fields that need an extension.
func writeAssessment(o *outgoing) error {
	v, err := pain.ReadAssessment(o.rec.Value)
	if err != nil {
		return err
	}
	info := instrument.Find(v.Instrument)
	obs := o.observation("", screeningProfile)
	obs.Category = category("survey")
	obs.Code = &CodeableConcept{Text: codeTexts["assessments-instrument"][v.Instrument]}
	if info != nil && info.LOINC.Score != "" {
		obs.Code.Coding = append(obs.Code.Coding, Coding{System: loinc, Code: info.LOINC.Score})
	}
	obs.Code.Coding = append(obs.Code.Coding, Coding{System: o.m.instrumentSystem(), Code: o.text("instrument")})
	if score := o.number("score"); score != "" {
		obs.ValueQuantity = &Quantity{Value: score, Unit: scoreUnit(v.Instrument), System: ucum, Code: scoreUnit(v.Instrument)}
	} else {
		obs.DataAbsentReason = concept(dataAbsentReasonCode, "unknown")
	}
	if band := o.text("band"); band != "" {
		obs.Interpretation = []CodeableConcept{*concept(o.m.fieldSystem("assessments", "band"), band)}
	}
	if v.Items.Count > 0 {
		if err := o.writeResponse(&v, info); err != nil {
			return err
		}
		obs.DerivedFrom = []Reference{{Reference: "QuestionnaireResponse/" + o.id}}
	} else {
		obs.Extension = o.extensions()
	}
	return o.add(obs.ResourceType, obs.ID, obs)
}

func (m *Mapping) instrumentSystem() string { return m.fieldSystem("assessments", "instrument") }

// scoreUnit is the unit of a total. A T score and a percentage have their own.
func scoreUnit(name string) string {
	switch name {
	case "odi":
		return "%"
	case "promis_pi":
		return "{Tscore}"
	}
	return "{score}"
}

func (o *outgoing) writeResponse(v *pain.Assessment, info *instrument.Info) error {
	identifier := o.identifier()
	r := QuestionnaireResponse{
		domainResource: o.resource("QuestionnaireResponse", usCore+"us-core-questionnaireresponse"), Identifier: &identifier[0],
		Questionnaire: o.m.questionnaireURL(v.Instrument), Status: o.status(), Subject: o.subject(), Encounter: o.encounter(),
		Authored: pain.Moment(o.rec.RecordedAt),
	}
	if r.Status == string(pain.Final) {
		r.Status = "completed"
	}
	if author := o.performers(); author != nil {
		r.Author = &author[0]
	}
	o.value.Object("items")
	for i, answer := range v.Items.Answers[:v.Items.Count] {
		if answer == instrument.Missing {
			continue
		}
		item := ResponseItem{LinkID: strconv.Itoa(i + 1)}
		if info != nil && isYesNo(info) {
			yes := answer != 0
			item.Answer = []ResponseAnswer{{ValueBoolean: &yes}}
		} else {
			item.Answer = []ResponseAnswer{{ValueInteger: json.Number(strconv.Itoa(int(answer)))}}
		}
		r.Item = append(r.Item, item)
	}
	r.Extension = append(o.notesExtension(), o.extensions()...)
	return o.add(r.ResourceType, r.ID, r)
}
