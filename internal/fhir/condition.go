package fhir

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

const (
	icd10CM           = "http://hl7.org/fhir/sid/icd-10-cm"
	conditionCategory = "http://terminology.hl7.org/CodeSystem/condition-category"
	conditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	conditionProfile  = usCore + "us-core-condition-problems-health-concerns"
)

// Condition is a Condition with the elements that we map. Others are kept as
// received.
type Condition struct {
	ResourceType       string            `json:"resourceType"`
	ID                 string            `json:"id,omitempty"`
	Meta               *Meta             `json:"meta,omitempty"`
	Extension          []Extension       `json:"extension,omitempty"`
	Identifier         []Identifier      `json:"identifier,omitempty"`
	ClinicalStatus     *CodeableConcept  `json:"clinicalStatus,omitempty"`
	VerificationStatus *CodeableConcept  `json:"verificationStatus,omitempty"`
	Category           []CodeableConcept `json:"category,omitempty"`
	Severity           *CodeableConcept  `json:"severity,omitempty"`
	Code               *CodeableConcept  `json:"code,omitempty"`
	Subject            *Reference        `json:"subject,omitempty"`
	OnsetDateTime      string            `json:"onsetDateTime,omitempty"`
	AbatementDateTime  string            `json:"abatementDateTime,omitempty"`
	Note               []Annotation      `json:"note,omitempty"`
}

func (m Mapping) conditions(p *pain.Patient) ([]Resource, error) {
	entries, err := p.MedicalHistory.Entries()
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	list := make([]Resource, 0, len(entries))
	seen := make(map[string]int, len(entries))
	for i := range entries {
		part := entryPart(&entries[i])
		if seen[part]++; seen[part] > 1 {
			part += "-" + strconv.Itoa(seen[part])
		}
		r, err := m.condition(p, &entries[i], resourceID(p.ID)+"-"+part)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// entryPart returns the part of a Condition's id that stands for an entry: a
// hash of its fields, so that it does not depend on the order of the entries.
func entryPart(e *pain.HistoryEntry) string {
	sum := sha256.Sum256([]byte(pain.NewHistory(*e).JSON()))
	return hex.EncodeToString(sum[:8])
}

func (m *Mapping) condition(p *pain.Patient, e *pain.HistoryEntry, id string) (Resource, error) {
	c := Condition{
		ResourceType: "Condition", ID: id, Meta: m.patientMeta(p, conditionProfile),
		Identifier: []Identifier{{System: m.base() + "/condition", Value: id}},
		Category:   []CodeableConcept{*concept(conditionCategory, "problem-list-item")},
		Code:       &CodeableConcept{Text: e.Condition},
		Subject:    &Reference{Reference: "Patient/" + resourceID(p.ID)},

		OnsetDateTime: e.OnsetDate, AbatementDateTime: e.ResolvedDate,
	}
	if e.ICD10Code != "" {
		c.Code.Coding = append(c.Code.Coding, Coding{System: icd10CM, Code: e.ICD10Code})
	}
	if e.SNOMEDCode != "" {
		c.Code.Coding = append(c.Code.Coding, Coding{System: snomed, Code: e.SNOMEDCode})
	}
	if e.Status != "" {
		c.ClinicalStatus = concept(conditionClinical, e.Status)
	}
	if e.Category != "" {
		c.Category = append(c.Category, *concept(m.system("medical_history-category"), e.Category))
	}
	if e.Severity != "" {
		c.Severity = &CodeableConcept{Text: e.Severity}
	}
	if e.Notes != "" {
		c.Note = []Annotation{{Text: e.Notes}}
	}
	return encode("Condition", id, &c)
}

func readCondition(in *incoming) {
	var c Condition
	if !in.decode(&c) {
		return
	}
	in.readIdentifiers(c.Identifier)
	in.readSubject(c.Subject, "subject")
	in.draft.Status = pain.Final
	var entry object
	set := func(name, value, at string) {
		if value != "" {
			entry.set(name, strictjson.AppendString(nil, value))
			in.draft.from(name, in.at(at))
		}
	}
	set("condition", c.name(), "code")
	set("icd10_code", c.Code.code(icd10CM), "code")
	set("snomed_code", c.Code.code(snomed), "code")
	set("onset_date", c.OnsetDateTime, "onsetDateTime")
	set("resolved_date", c.AbatementDateTime, "abatementDateTime")
	set("status", c.ClinicalStatus.code(conditionClinical), "clinicalStatus")
	for i := range c.Category {
		if code := c.Category[i].code(in.m.system("medical_history-category")); code != "" {
			set("category", code, "category"+index(i))
			break
		}
	}
	if c.Severity != nil {
		set("severity", c.Severity.Text, "severity.text")
	}
	if len(c.Note) == 1 {
		set("notes", c.Note[0].Text, "note[0].text")
	}
	in.draft.History = entry.append(nil)
}

// name returns the text of the code, or the first display or code.
func (c *Condition) name() string {
	if c.Code == nil {
		return ""
	}
	if c.Code.Text != "" {
		return c.Code.Text
	}
	for _, coding := range c.Code.Coding {
		if coding.Display != "" {
			return coding.Display
		}
	}
	for _, coding := range c.Code.Coding {
		if coding.Code != "" {
			return coding.Code
		}
	}
	return ""
}
