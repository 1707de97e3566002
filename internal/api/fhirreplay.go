package api

import (
	"encoding/json"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// replayedBundle returns the stored response to a transaction, without the
// resources that this token may not read, and records that it shows the others.
func (x *exchange) replayedBundle(out idempotency.Outcome) (answer, error) {
	type entry struct {
		Resource json.RawMessage `json:"resource,omitempty"`
		Response json.RawMessage `json:"response"`
	}
	var bundle struct {
		ResourceType string  `json:"resourceType"`
		Type         string  `json:"type"`
		Entry        []entry `json:"entry,omitempty"`
	}
	if err := json.Unmarshal(out.Body, &bundle); err != nil {
		return answer{}, err
	}
	type read struct {
		patient      id.Patient
		resourceType string
	}
	seen, hidden := map[read]bool{}, false
	for i := range bundle.Entry {
		e := &bundle.Entry[i]
		if len(e.Resource) == 0 {
			continue
		}
		resourceType, patient, err := x.patientOf(e.Resource)
		if err != nil {
			return answer{}, err
		}
		if !x.principal.MayFHIR(resourceType, access.FHIRRead) {
			e.Resource, hidden = nil, true
			continue
		}
		if one := (read{patient, resourceType}); !seen[one] {
			seen[one] = true
			if err := x.org.Saw(x.sawResources(resourceType, patient, 1)); err != nil {
				return answer{}, err
			}
		}
	}
	if hidden {
		var err error
		if out.Body, err = json.Marshal(bundle); err != nil {
			return answer{}, err
		}
	}
	return x.asFHIR(x.outcome(out)), nil
}

// patientOf returns the type of a resource of a stored response and the patient
// that it is, or is about.
func (x *exchange) patientOf(resource []byte) (resourceType string, patient id.Patient, err error) {
	var r struct {
		ResourceType, ID string
		Subject          struct{ Reference string }
	}
	if err := json.Unmarshal(resource, &r); err != nil {
		return "", patient, err
	}
	named, _, _ := strings.Cut(r.ID, "-") // the patient, also in the id of a Condition
	if fhirRecords[r.ResourceType] != nil {
		named = strings.TrimPrefix(r.Subject.Reference, "Patient/")
	}
	if patient, ok := parsePatientID(named); ok {
		return r.ResourceType, patient, nil
	}
	// The subject is an identifier of the patient.
	list, err := x.versions(r.ResourceType, r.ID)
	if err != nil {
		return "", patient, err
	}
	return r.ResourceType, list[0].Patient, nil
}
