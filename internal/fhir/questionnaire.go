package fhir

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain/instrument"
)

// itemCodes are the LOINC codes of the items of the instruments. Those of PEG
// are in package instrument. Each code is in two of: loinc.org as copied by
// Aidbox and by the HL7 guide "Personal Health Record Format"
// (QuestionnaireResponse-ScoredAssessment-PHQ9 and -GAD7), and the panels in
// LHC-Forms.
var itemCodes = map[string][]string{
	"phq_9": {"44250-9", "44255-8", "44259-0", "44254-1", "44251-7", "44258-2", "44252-5", "44253-3", "44260-8"},
	"phq_2": {"44250-9", "44255-8"},
	"gad_7": {"69725-0", "68509-9", "69733-4", "69734-2", "69735-9", "69689-8", "69736-7"},
}

// panelCodes are the LOINC codes of panels that package instrument does not
// have.
var panelCodes = map[string]string{"phq_2": "55757-9"}

// answerScores are the LOINC answers of the PHQ and the GAD (list LL358-3) and
// their scores.
var answerScores = map[string]int{"LA6568-5": 0, "LA6569-3": 1, "LA6570-1": 2, "LA6571-9": 3}

// Questionnaires returns the instruments that the service scores from items, as
// Questionnaire resources. They have codes, ranges and linkIds ("1", "2" ...),
// and no wording: those who present the questions need the text of the
// publisher.
func (m Mapping) Questionnaires() []Resource {
	var list []Resource
	for _, info := range instrument.All() {
		if !info.TotalOnly {
			list = append(list, m.questionnaire(&info))
		}
	}
	return list
}

func (m *Mapping) questionnaire(info *instrument.Info) Resource {
	q := Questionnaire{
		ResourceType: "Questionnaire", ID: questionnaireID(info.Name), URL: m.questionnaireURL(info.Name),
		Version: instrument.Version, Name: strings.ToUpper(info.Name), Title: info.Title, Status: "active", SubjectType: []string{"Patient"},
		Description: "Score: " + info.Measure + ". Missing items: " + info.Missing + ". The wording of the items is not included.",
		Copyright:   info.Licence,
	}
	if code := panelCode(info); code != "" {
		q.Code = append(q.Code, Coding{System: loinc, Code: code})
	}
	q.Code = append(q.Code, Coding{System: m.instrumentSystem(), Code: info.Name})
	codes := codesOfItems(info)
	for i := range info.Items {
		item := QuestionnaireItem{LinkID: strconv.Itoa(i + 1), Text: "Item " + strconv.Itoa(i+1), Type: "integer", Required: info.MayMiss == 0}
		if i < len(codes) {
			item.Code = []Coding{{System: loinc, Code: codes[i]}}
		}
		if isYesNo(info) {
			item.Type = "boolean"
		} else {
			item.Extension = []Extension{
				{URL: "http://hl7.org/fhir/StructureDefinition/minValue", ValueInteger: json.Number(strconv.Itoa(info.ItemMin))},
				{URL: "http://hl7.org/fhir/StructureDefinition/maxValue", ValueInteger: json.Number(strconv.Itoa(info.ItemMax))},
			}
		}
		q.Item = append(q.Item, item)
	}
	body, err := json.Marshal(q)
	if err != nil {
		panic("fhir: a questionnaire: " + err.Error()) // constants only
	}
	return Resource{Type: q.ResourceType, ID: q.ID, JSON: body}
}

// questionnaireID is the id of an instrument; ids have no underscores.
func questionnaireID(name string) string { return strings.ReplaceAll(name, "_", "-") }

func (m *Mapping) questionnaireURL(name string) string {
	return m.QuestionnaireURL(questionnaireID(name))
}

// QuestionnaireURL returns the canonical URL of the Questionnaire with an id.
func (m Mapping) QuestionnaireURL(id string) string { return m.base() + "/Questionnaire/" + id }

// instrumentOf returns the instrument of a canonical URL of a questionnaire:
// ours, or LOINC's by its panel. It is nil for others.
func (m *Mapping) instrumentOf(canonical string) *instrument.Info {
	url, _, _ := strings.Cut(canonical, "|")
	for _, info := range instrument.All() {
		panel := panelCode(&info)
		if info.TotalOnly || url != m.questionnaireURL(info.Name) && (panel == "" || url != "http://loinc.org/q/"+panel) {
			continue
		}
		return instrument.Find(info.Name)
	}
	return nil
}

func panelCode(info *instrument.Info) string {
	if info.LOINC.Panel != "" {
		return info.LOINC.Panel
	}
	return panelCodes[info.Name]
}

func codesOfItems(info *instrument.Info) []string {
	if len(info.LOINC.Items) > 0 {
		return info.LOINC.Items
	}
	return itemCodes[info.Name]
}

// itemOf returns the number of the item with a linkId, from 0, or -1 for one
// that is not scored. LOINC's own questionnaires use the code as the linkId,
// with a slash before it.
func itemOf(info *instrument.Info, linkID string) int {
	if i := slices.Index(codesOfItems(info), strings.TrimPrefix(linkID, "/")); i >= 0 {
		return i
	}
	n, err := strconv.Atoi(linkID)
	if err != nil || n < 1 || n > info.Items || linkID != strconv.Itoa(n) {
		return -1
	}
	return n - 1
}

// isYesNo reports whether the items are ticked or not.
func isYesNo(info *instrument.Info) bool { return info.ItemMin == 0 && info.ItemMax == 1 }
