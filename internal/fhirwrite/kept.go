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

// keep notes what a stored resource lacks of the received one, apart from the
// elements that stay as they are stored if the received one has none.
func (p *planner) keep(kept fhir.Kept, resource string, received *fhir.Draft, generated []byte, stay ...string) {
	if elements := received.Keep(generated, p.addresses.replace, stay...); elements == nil {
		delete(kept, resource)
	} else {
		kept[resource] = elements
	}
}
