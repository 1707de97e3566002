package fhirwrite

import "anodyne.example/anodyne/internal/fhir"

// storedKept parses what the store keeps beside a patient or record. The map is
// not nil.
func storedKept(text string) (fhir.Kept, error) {
	kept, err := fhir.ParseKept(text)
	if kept == nil {
		kept = fhir.Kept{}
	}
	return kept, err
}

// keep notes what a stored resource lacks of the received one.
func keep(kept fhir.Kept, resource string, received, generated []byte) {
	if elements := fhir.Keep(received, generated); elements == nil {
		delete(kept, resource)
	} else {
		kept[resource] = elements
	}
}
