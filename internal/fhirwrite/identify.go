package fhirwrite

import (
	"encoding/json"
	"slices"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// identify gives the resource of a conditional update the identifier that was
// sought, if it lacks it, so that the next update finds it.
func (e *entry) identify(m fhir.Mapping) {
	if !e.Update || e.Sought.Value == "" || e.isPatient() && !e.identifies() || e.Sought.System == m.PatientSystem() || slices.Contains(e.draft.Identifiers, e.Sought) {
		return
	}
	body, err := withIdentifier(e.Body, e.Sought)
	if err != nil {
		return // it was read, and so this cannot happen
	}
	if draft, _ := m.Read(body); draft != nil {
		e.Body, e.draft = body, draft
		return
	}
	// Only one is allowed, and the resource has another.
	e.draft.Identifiers = append(e.draft.Identifiers, e.Sought)
}

// identifies reports whether a resource has identifiers, of whatever kind. Those
// that are stored of a patient stay if an update has none, because other systems
// find the patient by theirs, as in [pain.PutPatient].
func (e *entry) identifies() bool { return e.draft.Has("identifier") }

// withIdentifier returns a resource with one more identifier.
func withIdentifier(body []byte, one pain.Identifier) ([]byte, error) {
	var resource map[string]json.RawMessage
	if err := json.Unmarshal(body, &resource); err != nil {
		return nil, err
	}
	added := strictjson.AppendString([]byte(`{"system":`), one.System)
	added = append(strictjson.AppendString(append(added, `,"value":`...), one.Value), '}')
	list := []json.RawMessage{}
	if old, has := resource["identifier"]; has && json.Unmarshal(old, &list) != nil {
		list = []json.RawMessage{old}
	}
	element, err := json.Marshal(append(list, added))
	if string(resource["resourceType"]) == `"QuestionnaireResponse"` && len(list) == 0 { // it has at most one
		element = added
	}
	resource["identifier"] = element
	if err != nil {
		return nil, err
	}
	return json.Marshal(resource)
}
