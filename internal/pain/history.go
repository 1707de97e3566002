package pain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// Limits of a medical history. Lengths are in characters.
const (
	maxHistory   = 500
	maxCondition = 500
	maxNotes     = 5000
	maxCode      = 50
	maxSeverity  = 50
)

// HistoryEntry is one entry of a medical history. Only Condition is required.
// Dates are YYYY, YYYY-MM or YYYY-MM-DD.
type HistoryEntry struct {
	Condition    string `json:"condition"`
	ICD10Code    string `json:"icd10_code"`
	SNOMEDCode   string `json:"snomed_code"`
	OnsetDate    string `json:"onset_date"`
	ResolvedDate string `json:"resolved_date"`
	Status       string `json:"status"`
	Severity     string `json:"severity"`
	Category     string `json:"category"`
	Notes        string `json:"notes"`
}

var (
	icd10Pattern = regexp.MustCompile(`^[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?$`)

	historyStatuses   = []string{"active", "recurrence", "relapse", "inactive", "remission", "resolved"}
	historyCategories = []string{"pain", "psychiatric", "substance_use", "medical", "surgical", "family"}
)

// History is a medical history in JSON, as stored in the database and returned
// by the API. It is only decoded on demand. Two histories with the same
// entries are equal. The zero value is empty.
type History struct{ json string }

// NewHistory returns a history of valid entries.
func NewHistory(entries ...HistoryEntry) History {
	if len(entries) == 0 {
		return History{}
	}
	b := []byte{'['}
	for i := range entries {
		b = appendEntry(b, &entries[i])
	}
	return History{string(append(b, ']'))}
}

// StoredHistory returns a history from the text returned by JSON.
func StoredHistory(text string) History {
	if text == "[]" {
		return History{}
	}
	return History{text}
}

// JSON returns the history as a JSON array of objects.
func (h History) JSON() string {
	if h.json == "" {
		return "[]"
	}
	return h.json
}

// Entries decodes the history.
func (h History) Entries() ([]HistoryEntry, error) {
	return storedList[HistoryEntry](h.json, "medical history")
}

// storedList decodes a list that was stored as JSON, or as "" if it is empty.
func storedList[T any](text, what string) (list []T, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("stored %s: %w", what, err)
	}
	return list, nil
}

// readHistory reads a complete history. Null is the empty history.
func readHistory(r *strictjson.Reader, fields *fault.Fields) History {
	list, ok := r.Array("medical_history")
	if !ok || list.Len() == 0 {
		return History{}
	}
	if list.Len() > maxHistory {
		r.Fault("medical_history", "must have at most "+strconv.Itoa(maxHistory)+" entries.")
		return History{}
	}
	b := []byte{'['}
	for _, v := range list.All() {
		e := readEntry(v, fields)
		b = appendEntry(b, &e)
	}
	return History{string(append(b, ']'))}
}

// readEntry reads an object, or a string that is the condition.
func readEntry(v strictjson.Value, fields *fault.Fields) HistoryEntry {
	if text, ok := v.AsString(); ok {
		text = strings.TrimSpace(text)
		if problem := conditionProblem(text); problem != "" {
			v.Fault(fields, problem)
		}
		return HistoryEntry{Condition: text}
	}
	object, ok := v.AsObject()
	if !ok {
		v.Fault(fields, "must be an object, or a string that names the condition.")
		return HistoryEntry{}
	}
	var e HistoryEntry
	r := strictjson.Read(object, fields)
	if e.Condition, ok = r.Required("condition"); ok {
		e.Condition = strings.TrimSpace(e.Condition)
		if problem := conditionProblem(e.Condition); problem != "" {
			r.Fault("condition", problem)
		}
	}
	if e.ICD10Code, ok = r.String("icd10_code"); ok && !icd10Pattern.MatchString(e.ICD10Code) {
		r.Fault("icd10_code", "must be an ICD-10 code such as M54.50.")
	}
	e.SNOMEDCode = readLine(&r, "snomed_code", maxCode)
	var okOnset, okResolved bool
	e.OnsetDate, okOnset = readPartialDate(&r, "onset_date")
	e.ResolvedDate, okResolved = readPartialDate(&r, "resolved_date")
	if okOnset && okResolved && partialBefore(e.ResolvedDate, e.OnsetDate) {
		r.Fault("resolved_date", "must not be before onset_date.")
	}
	e.Status = readOneOf(&r, "status", historyStatuses)
	e.Severity = readLine(&r, "severity", maxSeverity)
	e.Category = readOneOf(&r, "category", historyCategories)
	e.Notes = readText(&r, "notes", notesProblem)
	r.Done()
	return e
}

func conditionProblem(s string) string {
	if s == "" {
		return "must not be blank."
	}
	return LineProblem(s, maxCondition)
}

// readPartialDate returns a partial date and whether a valid one is present.
func readPartialDate(r *strictjson.Reader, name string) (string, bool) {
	v, ok := r.Value(name)
	if !ok {
		return "", false
	}
	s, isText := v.AsString()
	if isText && s == "" {
		return "", false
	}
	if !IsPartialDate(s) {
		r.Fault(name, "must be a real date in the form YYYY, YYYY-MM or YYYY-MM-DD.")
		return "", false
	}
	return s, true
}

func readOneOf(r *strictjson.Reader, name string, allowed []string) string {
	s, ok := r.String(name)
	if ok && !slices.Contains(allowed, s) {
		r.Fault(name, "must be one of "+strings.Join(allowed, ", ")+".")
	}
	return s
}

// appendEntry appends an entry, with a comma before it unless it is the first.
func appendEntry(b []byte, e *HistoryEntry) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	b = append(b, `{"condition":`...)
	b = strictjson.AppendString(b, e.Condition)
	b = appendSet(b, `,"icd10_code":`, e.ICD10Code)
	b = appendSet(b, `,"snomed_code":`, e.SNOMEDCode)
	b = appendSet(b, `,"onset_date":`, e.OnsetDate)
	b = appendSet(b, `,"resolved_date":`, e.ResolvedDate)
	b = appendSet(b, `,"status":`, e.Status)
	b = appendSet(b, `,"severity":`, e.Severity)
	b = appendSet(b, `,"category":`, e.Category)
	b = appendSet(b, `,"notes":`, e.Notes)
	return append(b, '}')
}

// appendSet appends a field unless its value is empty.
func appendSet(b []byte, member, value string) []byte {
	if value == "" {
		return b
	}
	return strictjson.AppendString(append(b, member...), value)
}
