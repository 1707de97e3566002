package patients

import "anodyne.example/anodyne/internal/fhir"

// Resource returns the patient as a Patient, with what is kept of it.
func (p *FHIRPatient) Resource(m fhir.Mapping) (fhir.Resource, error) {
	return m.StoredPatient(&p.Patient, p.UpdatedAt, p.Kept)
}

// Conditions returns the medical history as Conditions, with what is kept of
// them.
func (p *FHIRPatient) Conditions(m fhir.Mapping) ([]fhir.Resource, error) {
	return m.StoredConditions(&p.Patient, p.UpdatedAt, p.Kept)
}

// Resources returns the resources of the record, with what is kept of them.
func (r *FHIRRecord) Resources(m fhir.Mapping) ([]fhir.Resource, error) {
	return m.StoredRecord(&r.Record, r.Version(), r.Kept)
}

// Version returns the record's place in its chain of corrections.
func (r *FHIRRecord) Version() fhir.Version {
	return fhir.Version{Root: r.Root, Number: int(r.Number), LastUpdated: r.UpdatedAt}
}
