package fhir

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"anodyne.example/anodyne/internal/pain"
)

const (
	icd10CM           = "http://hl7.org/fhir/sid/icd-10-cm"
	icd10             = "http://hl7.org/fhir/sid/icd-10"
	conditionCategory = "http://terminology.hl7.org/CodeSystem/condition-category"
	conditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	conditionVerified = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
	conditionProfile  = usCore + "us-core-condition-problems-health-concerns"
)

// Condition is a Condition with the elements that we map. Others are kept as
// received.
type Condition struct {
	domainResource
	ModifierExtension  []Extension       `json:"modifierExtension,omitempty"`
	Identifier         []Identifier      `json:"identifier,omitempty"`
	ClinicalStatus     *CodeableConcept  `json:"clinicalStatus,omitempty"`
	VerificationStatus *CodeableConcept  `json:"verificationStatus,omitempty"`
	Category           []CodeableConcept `json:"category,omitempty"`
	Severity           *CodeableConcept  `json:"severity,omitempty"`
	Code               *CodeableConcept  `json:"code,omitempty"`
	Subject            *Reference        `json:"subject,omitempty"`
	OnsetDateTime      string            `json:"onsetDateTime,omitempty"`
	OnsetPeriod        *Period           `json:"onsetPeriod,omitempty"`
	AbatementDateTime  string            `json:"abatementDateTime,omitempty"`
	Note               []Annotation      `json:"note,omitempty"`
}

func (m Mapping) conditions(p *pain.Patient) ([]Resource, error) {
	entries, err := p.MedicalHistory.Entries()
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	list := make([]Resource, 0, len(entries))
	for i, part := range entryParts(entries) {
		r, err := m.condition(p, &entries[i], resourceID(p.ID)+"-"+part)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// entryParts returns the parts of Conditions' ids that stand for the entries:
// hashes of their fields, so that they do not depend on the order of the
// entries. Those with the same fields are counted.
func entryParts(entries []pain.HistoryEntry) []string {
	parts := make([]string, len(entries))
	seen := make(map[string]int, len(entries))
	for i := range entries {
		sum := sha256.Sum256([]byte(pain.NewHistory(entries[i]).JSON()))
		part := hex.EncodeToString(sum[:8])
		if seen[part]++; seen[part] > 1 {
			part += "-" + strconv.Itoa(seen[part])
		}
		parts[i] = part
	}
	return parts
}

// familyURL is a modifier extension: the condition is a relative's, not the
// patient's. Who does not know it must not take the Condition for the
// patient's.
func (m *Mapping) familyURL() string { return m.extensionURL("medical_history", "family") }

func (m *Mapping) familyModifier() Extension {
	yes := true
	return Extension{URL: m.familyURL(), ValueBoolean: &yes}
}

func (m *Mapping) condition(p *pain.Patient, e *pain.HistoryEntry, id string) (Resource, error) {
	c := Condition{
		domainResource: domainResource{ResourceType: "Condition", ID: id, Meta: m.patientMeta(p, conditionProfile)},
		Identifier:     []Identifier{{System: m.base() + "/condition", Value: id}},
		Category:       []CodeableConcept{*concept(conditionCategory, "problem-list-item")},
		Code:           &CodeableConcept{Text: e.Condition},
		Subject:        &Reference{Reference: "Patient/" + resourceID(p.ID)},

		OnsetDateTime: e.OnsetDate, AbatementDateTime: e.ResolvedDate,
	}
	if e.Category == "family" {
		c.ModifierExtension = []Extension{m.familyModifier()}
		c.Category, c.Meta.Profile = nil, nil
	}
	if e.ICD10Code != "" {
		c.Code.Coding = append(c.Code.Coding, Coding{System: icd10CM, Code: e.ICD10Code})
	}
	switch {
	case e.SNOMEDCode == "":
	case isCode(e.SNOMEDCode):
		c.Code.Coding = append(c.Code.Coding, Coding{System: snomed, Code: e.SNOMEDCode})
	default:
		c.Extension = append(c.Extension, textExtension(m.extensionURL("medical_history", "snomed_code"), e.SNOMEDCode))
	}
	if e.Status != "" {
		c.ClinicalStatus = concept(conditionClinical, e.Status)
	}
	if e.Category != "" {
		c.Category = append(c.Category, *concept(m.system("medical_history-category"), e.Category))
	}
	switch {
	case e.Severity == "":
	case blank(e.Severity):
		c.Extension = append(c.Extension, textExtension(m.extensionURL("medical_history", "severity"), e.Severity))
	default:
		c.Severity = &CodeableConcept{Text: e.Severity}
	}
	switch {
	case e.Notes == "":
	case blank(e.Notes):
		c.Extension = append(c.Extension, textExtension(m.extensionURL("medical_history", "notes"), e.Notes))
	default:
		c.Note = []Annotation{{Text: e.Notes}}
	}
	return encode("Condition", id, &c)
}
