package fhir

import (
	"strconv"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/instrument"
	"anodyne.example/anodyne/internal/strictjson"
)

// readResponse reads a QuestionnaireResponse that answers one of our
// instruments. Package pain scores it and decides about missing items.
func readResponse(in *incoming) {
	var r QuestionnaireResponse
	if !in.decode(&r) {
		return
	}
	info := in.m.instrumentOf(r.Questionnaire)
	if info == nil {
		in.refuse(NotSupported, "questionnaire", "Only answers to the questionnaires of this service are accepted; GET Questionnaire lists them.")
		return
	}
	in.draft.DataType = pain.TypeAssessments
	switch r.Status {
	case "completed":
		in.draft.Status = pain.Final
	case "amended":
		in.draft.Status = pain.Amended
	case "entered-in-error":
		in.draft.Status = pain.EnteredInError
	default:
		in.refuse(NotSupported, "status", "Only answers with the status completed, amended or entered-in-error are accepted.")
	}
	var identifiers []Identifier
	if r.Identifier != nil {
		identifiers = append(identifiers, *r.Identifier)
	}
	in.readCommon(identifiers, r.Subject, "subject", r.Encounter, references(r.Author), "author", nil)
	if r.Authored != "" {
		in.readMoment(r.Authored, "authored")
	} else {
		in.refuse(Required, "authored", "The time of the answers is required.")
	}
	in.setText("instrument", info.Name, "questionnaire")
	answers := answersOf{in: in, info: info}
	answers.read(r.Item, "item")
	in.setJSON("items", answers.json(), "item")
	in.readExtensions(r.Extension)
}

// answersOf are the answers to the items of an instrument.
type answersOf struct {
	in    *incoming
	info  *instrument.Info
	found [instrument.MaxItems][]byte
}

// read takes the answers to the items, in groups too. Items that are not
// scored are kept as received.
func (a *answersOf) read(list []ResponseItem, at string) {
	for i := range list {
		item, at := &list[i], at+index(i)
		if n := itemOf(a.info, item.LinkID); n >= 0 && len(item.Answer) > 0 {
			a.take(n, item.Answer, at)
		}
		a.read(item.Item, at+".item")
		for j := range item.Answer {
			a.read(item.Answer[j].Item, at+".answer"+index(j)+".item")
		}
	}
}

func (a *answersOf) take(n int, list []ResponseAnswer, at string) {
	a.in.draft.from("value.items."+strconv.Itoa(n+1), a.in.at(at+".answer[0]"))
	if len(list) > 1 || a.found[n] != nil {
		a.in.refuse(BusinessRule, at+".answer", "An item can have only one answer.")
		return
	}
	value := answerJSON(&list[0])
	if value == nil {
		a.in.refuse(NotSupported, at+".answer[0]", "The answer must be a number, true or false, or a code with a known score.")
		return
	}
	a.found[n] = value
}

// answerJSON is the score of an answer, or nil for one without a known score.
func answerJSON(answer *ResponseAnswer) []byte {
	switch {
	case answer.ValueInteger != "":
		return []byte(answer.ValueInteger)
	case answer.ValueDecimal != "":
		return []byte(answer.ValueDecimal)
	case answer.ValueBoolean != nil:
		return strconv.AppendBool(nil, *answer.ValueBoolean)
	case answer.ValueQuantity != nil && answer.ValueQuantity.Value != "" && answer.ValueQuantity.Comparator == "":
		if unit := answer.ValueQuantity.unit(); unit == "" || unit == "{score}" || unit == "1" {
			return []byte(answer.ValueQuantity.Value)
		}
	case answer.ValueCoding != nil:
		for _, e := range answer.ValueCoding.Extension {
			if e.ValueDecimal != "" && (e.URL == "http://hl7.org/fhir/StructureDefinition/ordinalValue" || e.URL == "http://hl7.org/fhir/StructureDefinition/itemWeight") {
				return []byte(e.ValueDecimal)
			}
		}
		if score, ok := answerScores[answer.ValueCoding.Code]; ok && answer.ValueCoding.System == loinc {
			return strconv.AppendInt(nil, int64(score), 10)
		}
	}
	return nil
}

func (a *answersOf) json() []byte {
	b := []byte{'{'}
	for n, value := range a.found {
		if value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, strconv.Itoa(n+1)), ':')
		b = append(b, value...)
	}
	return append(b, '}')
}

// instrumentOfScore is the instrument of which an Observation is the score, or
// nil.
func (in *incoming) instrumentOfScore(o *Observation) *instrument.Info {
	if info := instrument.Find(o.Code.code(in.m.instrumentSystem())); info != nil {
		return info
	}
	code := o.Code.code(loinc)
	for _, info := range instrument.All() {
		if code != "" && info.LOINC.Score == code {
			return instrument.Find(info.Name)
		}
	}
	return nil
}

func isAssessmentScore(in *incoming, o *Observation) bool { return in.instrumentOfScore(o) != nil }

// readAssessmentScore reads the score of an instrument. That of a licensed one
// is the record; that of another is only taken beside the answers from which
// the service computes it, and says no more than they do: see [Keep] for one
// that differs.
func readAssessmentScore(in *incoming, o *Observation) {
	info := in.instrumentOfScore(o)
	in.setText("instrument", info.Name, "code")
	if !info.TotalOnly {
		if in.draft.Key == "" {
			in.refuse(BusinessRule, "code", "The service computes this score from the items; send them as a QuestionnaireResponse.")
		}
		if o.ValueQuantity != nil {
			in.isScore(o.ValueQuantity, info.Name)
		}
		in.draft.partial = true
		in.draft.from("value.items", in.at("derivedFrom"))
		return
	}
	switch q := o.ValueQuantity; {
	case q == nil && o.ValueInteger != "":
		in.setNumber("score", o.ValueInteger, "valueInteger")
	case q == nil || q.Value == "":
		in.refuse(Required, "valueQuantity", "A score needs a number as its value.")
	case in.isScore(q, info.Name):
		in.setNumber("score", q.Value, "valueQuantity.value")
	}
}

// isScore refuses a quantity that is not the number of a score.
func (in *incoming) isScore(q *Quantity, name string) bool {
	switch {
	case q.Comparator != "":
		in.refuse(NotSupported, "valueQuantity.comparator", "A value with a comparator is not supported.")
	case !isScoreUnit(q.unit(), name):
		in.refuse(CodeInvalid, "valueQuantity.code", "The unit of this score must be "+scoreUnit(name)+".")
	default:
		return true
	}
	return false
}

// isScoreUnit reports whether a score may have the unit: none, the one that we
// write, or one that says that it is a score.
func isScoreUnit(unit, name string) bool {
	switch unit {
	case "", "1", "{score}", scoreUnit(name):
		return true
	case "{T-score}", "{TScore}", "{tscore}":
		return name == "promis_pi"
	}
	return false
}
