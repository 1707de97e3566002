package patients

import (
	"cmp"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
)

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

// FHIRVersion is one version of a resource of a record.
type FHIRVersion struct {
	fhir.Resource
	Patient   id.Patient
	Number    int64
	UpdatedAt time.Time
	// RecordedAt is the clinical time of a record.
	RecordedAt time.Time
	// Shifting is set if the contents may have changed within the version.
	Shifting bool
}

// VersionsOf returns the versions of one resource of a record, given all
// versions of the record, oldest first. A record entered in error has two
// versions: the last one before, and the retraction. A resource that a
// correction removed, such as one vital sign, was entered in error.
func VersionsOf(m fhir.Mapping, chain []FHIRRecord, resourceType, resourceID string) (list []FHIRVersion, err error) {
	show := func(rec FHIRRecord) (shown bool, err error) {
		resources, err := rec.Resources(m)
		for _, r := range resources {
			if r.Type == resourceType && r.ID == resourceID {
				list = append(list, FHIRVersion{r, rec.PatientID, rec.Number, rec.UpdatedAt, rec.RecordedAt, rec.Rederived()})
				shown = true
			}
		}
		return shown, err
	}
	var last *FHIRRecord // the latest with the resource, unless it was removed
	add := func(rec FHIRRecord) error {
		shown, err := show(rec)
		switch {
		case shown:
			last = &rec
		case err == nil && last != nil:
			removed := *last
			removed.Number, removed.UpdatedAt, removed.Kept, removed.Status = rec.Number, rec.UpdatedAt, rec.Kept, pain.EnteredInError
			_, err = show(removed)
			last = nil
		}
		return err
	}
	for _, rec := range chain {
		if rec.Status == pain.EnteredInError {
			before := rec
			before.Number, before.UpdatedAt, before.Status = rec.Number-1, rec.CreatedAt, pain.Superseded // shown as it was
			if err := add(before); err != nil {
				return nil, err
			}
		}
		if rec.Status == pain.Superseded {
			rec.UpdatedAt = rec.CreatedAt
		}
		if err := add(rec); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Removed returns the retractions of the resources that earlier versions of a
// record had and the latest lacks, such as one vital sign of several.
func Removed(m fhir.Mapping, chain []FHIRRecord) (list []FHIRVersion, err error) {
	type name struct{ resourceType, id string }
	seen := map[name]bool{}
	for i := len(chain) - 1; i >= 0; i-- {
		resources, err := chain[i].Resources(m)
		if err != nil {
			return nil, err
		}
		for _, r := range resources {
			if seen[name{r.Type, r.ID}] {
				continue
			}
			seen[name{r.Type, r.ID}] = true
			if i == len(chain)-1 {
				continue
			}
			versions, err := VersionsOf(m, chain, r.Type, r.ID)
			if err != nil {
				return nil, err
			}
			list = append(list, versions[len(versions)-1])
		}
	}
	return list, nil
}

// Removed returns the retractions of the resources that earlier versions of the
// records of a chart had and the latest lack; see [Removed].
func (c *FHIRChart) Removed(m fhir.Mapping) (list []FHIRVersion, err error) {
	if len(c.Earlier) == 0 {
		return nil, nil
	}
	chains := map[id.Record][]FHIRRecord{}
	for _, rec := range c.Earlier {
		chains[rec.Root] = append(chains[rec.Root], rec)
	}
	for _, rec := range c.Records {
		chain := chains[rec.Root]
		if chain == nil {
			continue
		}
		slices.SortFunc(chain, func(a, b FHIRRecord) int { return cmp.Compare(a.Number, b.Number) })
		removed, err := Removed(m, append(chain, rec))
		if err != nil {
			return nil, err
		}
		list = append(list, removed...)
	}
	return list, nil
}
