package fhirwrite

import (
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/strictjson"
)

// changed applies the updates and Conditions of one request to a patient.
func (p *planner) changed(one *person, old pain.Patient, stored string) (pain.Patient, []pain.Change, error) {
	body := []byte{'{'}
	version := strconv.FormatInt(old.Version, 10)
	for _, e := range slices.Concat(one.patient, one.history) {
		if e.IfMatch != "" && e.IfMatch != version {
			return old, nil, fault.New(fault.PreconditionFailed, "The resource has another version.", "etag", `W/"`+version+`"`)
		}
	}
	for _, e := range one.patient {
		object, err := strictjson.Parse(e.draft.Patient)
		if err != nil {
			return old, nil, err
		}
		body = replacement(object, e.draft.Patient, e.identifies())
	}
	history, err := p.historyOf(one, &old, stored)
	if err != nil {
		return old, nil, err
	}
	if history != "" {
		if len(body) > 1 {
			body = append(body[:len(body)-1], ',')
		}
		body = append(append(body, `"medical_history":[`...), history...)
		body = append(body, "]}"...)
	}
	object, err := strictjson.Parse(body)
	if err != nil {
		return old, nil, err
	}
	return pain.PatchPatient(old, object, p.Now)
}

// replacement returns the merge patch that gives a patient the fields of a body
// and removes those that it lacks. The medical history is that of Conditions.
// Without identifies, the identifiers stay as they are.
func replacement(object *strictjson.Object, body []byte, identifies bool) []byte {
	b := append([]byte{}, strings.TrimSuffix(string(body), "}")...)
	if _, has := object.Get("gender"); !has {
		b = append(b, `,"gender":null`...)
	}
	if _, has := object.Get("identifiers"); !has && identifies {
		b = append(b, `,"identifiers":null`...)
	}
	if v, has := object.Get("contact"); !has {
		b = append(b, `,"contact":null`...)
	} else if contact, ok := v.AsObject(); ok {
		// A merge patch leaves fields that are absent.
		b = []byte(strings.Replace(string(b), string(v.Raw()), contactOf(contact), 1))
	}
	return append(b, '}')
}

func contactOf(contact *strictjson.Object) string {
	b := []byte{'{'}
	for i, name := range []string{"email", "phone"} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, name), ':')
		if v, has := contact.Get(name); has {
			b = append(b, v.Raw()...)
		} else {
			b = append(b, "null"...)
		}
	}
	return string(append(b, '}'))
}

// historyOf returns the entries of the medical history after the Conditions of
// a request, or "" if there are none. An update replaces the entry with its id.
func (p *planner) historyOf(one *person, old *pain.Patient, stored string) (string, error) {
	if len(one.history) == 0 {
		return "", nil
	}
	entries, err := old.MedicalHistory.Entries()
	if err != nil {
		return "", err
	}
	resources, err := p.Mapping.StoredConditions(old, p.Now, stored)
	if err != nil {
		return "", err
	}
	parts := make([]string, len(entries))
	for i := range entries {
		parts[i] = strings.TrimSuffix(strings.TrimPrefix(pain.NewHistory(entries[i]).JSON(), "["), "]")
	}
	for _, e := range one.history {
		if !e.Update {
			e.at = len(parts)
			parts = append(parts, string(e.draft.History))
			continue
		}
		if e.at = slices.IndexFunc(resources, func(r fhir.Resource) bool { return r.ID == e.ID }); e.at < 0 {
			return "", fault.Missing("Condition", e.ID)
		}
		parts[e.at] = string(e.draft.History)
	}
	return strings.Join(parts, ","), nil
}

func joinHistory(added []*entry) string {
	list := make([]string, len(added))
	for i, e := range added {
		list[i] = string(e.draft.History)
	}
	return strings.Join(list, ",")
}

// updated returns the journal entry of changes, or nil if there are none.
func (p *planner) updated(patientID id.Patient, changes []pain.Change) *journal.Change {
	if len(changes) == 0 {
		return nil
	}
	line := p.Line(audit.PatientUpdate, patientID.String())
	list := make([]audit.Change, len(changes))
	for i, c := range changes {
		list[i] = audit.Change(c)
	}
	line.Details = audit.Changes(list)
	return &journal.Change{Audit: line, Event: event.Patient(event.PatientUpdated, p.Now, patientID), Subject: patientID}
}
