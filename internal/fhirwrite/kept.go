package fhirwrite

import (
	"encoding/json"

	"anodyne.example/anodyne/internal/fhir"
)

// keptElements are the elements that are kept beside a patient or record, by
// resource.
type keptElements map[string]json.RawMessage

// parseKept parses what is stored. What cannot be read is replaced.
func parseKept(stored string) keptElements {
	kept := keptElements{}
	if stored != "" {
		_ = json.Unmarshal([]byte(stored), &kept) // written by text
	}
	return kept
}

// text returns what is stored; "" if there is nothing.
func (k keptElements) text() string {
	if len(k) == 0 {
		return ""
	}
	b, err := json.Marshal(k)
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(b)
}

// keep notes what a stored resource lacks of the received one.
func (k keptElements) keep(resource string, received, generated []byte) {
	if elements := fhir.Keep(received, generated); elements == nil {
		delete(k, resource)
	} else {
		k[resource] = elements
	}
}
