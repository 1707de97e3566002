package fhir

import (
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// maxSeverity is the longest severity of a history entry. A longer one is only
// kept.
const maxSeverity = 50

// readCondition reads a Condition as an entry of the medical history.
func readCondition(in *incoming) {
	var c Condition
	if !in.decode(&c) {
		return
	}
	in.readIdentifiers(c.Identifier)
	in.readSubject(c.Subject, "subject")
	in.draft.Status = pain.Final
	in.readVerification(c.VerificationStatus)
	h := history{in: in}
	if name, at := c.Code.nameAt(); name == "" {
		in.refuse(Required, "code", "A code or its text is required.")
	} else {
		h.set("condition", oneLine(name), at)
	}
	h.set("icd10_code", c.Code.code(icd10CM), "code")
	h.set("icd10_code", c.Code.code(icd10), "code")
	h.set("snomed_code", c.Code.code(snomed), "code")
	h.set("onset_date", day(c.OnsetDateTime), "onsetDateTime")
	if c.OnsetPeriod != nil {
		h.set("onset_date", day(c.OnsetPeriod.Start), "onsetPeriod.start")
	}
	h.set("resolved_date", day(c.AbatementDateTime), "abatementDateTime")
	h.set("status", c.ClinicalStatus.code(conditionClinical), "clinicalStatus")
	h.setCategory(&c)
	if c.Severity != nil {
		if words := c.Severity.words(); pain.LineProblem(words, maxSeverity) == "" {
			h.set("severity", words, "severity")
		}
	}
	if len(c.Note) == 1 {
		h.set("notes", c.Note[0].Text, "note[0].text")
	}
	for i := range c.Extension {
		name, ours := strings.CutPrefix(c.Extension[i].URL, in.m.extensionURL("medical_history", ""))
		if text, ok := c.Extension[i].text(); ours && ok && (name == "snomed_code" || name == "severity" || name == "notes") {
			h.set(name, text, "extension"+index(i))
		}
	}
	in.draft.History = h.entry.append(nil)
}

// readVerification refuses a Condition that the patient does not have, and one
// of which this is not clear.
func (in *incoming) readVerification(status *CodeableConcept) {
	if status == nil {
		return
	}
	known := false
	for _, coding := range status.Coding {
		if coding.System != conditionVerified {
			continue
		}
		switch coding.Code {
		case "unconfirmed", "provisional", "differential", "confirmed":
			known = true
		case "refuted", "entered-in-error":
			in.refuse(NotSupported, "verificationStatus", "A Condition that is refuted or entered in error cannot be stored in the medical history.")
			return
		default:
			known = false
		}
	}
	if !known {
		in.refuse(CodeInvalid, "verificationStatus", "The status must have a code of the system "+conditionVerified+".")
	}
}

// history is an entry of the medical history being read.
type history struct {
	in    *incoming
	entry object
}

// set sets a field unless it is set already.
func (h *history) set(name, value, at string) {
	if value != "" && !h.entry.has(name) {
		h.entry.set(name, strictjson.AppendString(nil, value))
		h.in.draft.from(name, h.in.at(at))
	}
}

func (h *history) setCategory(c *Condition) {
	if len(c.ModifierExtension) > 0 {
		h.set("category", "family", "modifierExtension[0]")
	}
	for i := range c.Category {
		h.set("category", c.Category[i].code(h.in.m.system("medical_history-category")), "category"+index(i))
	}
}

// day returns the date of a dateTime, which may be a part of one.
func day(dateTime string) string { return dateTime[:min(len(dateTime), len("YYYY-MM-DD"))] }
