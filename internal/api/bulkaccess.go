package api

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/reports"
)

// mayFHIR returns an error if the token does not permit an interaction with
// resources of a type.
func (x *exchange) mayFHIR(resourceType string, verbs access.FHIRVerbs) error {
	if x.principal.MayFHIR(resourceType, verbs) {
		return nil
	}
	need := "system/" + resourceType + "." + verbs.String()
	return fault.New(fault.Forbidden, "The token lacks the scope "+need+", or the scope of this service that includes it.",
		"required_scope", need, "granted_scopes", x.principal.Scopes.Names())
}

// mayFilter returns an error if the token may not read what a filter looks at:
// who matches tells who has a condition, or takes a medicine.
func (x *exchange) mayFilter(p *analytics.Params) error {
	f := p.Filter()
	for _, needed := range []struct {
		resourceType string
		isNeeded     bool
	}{
		{"Patient", p.Gender != nil || p.AgeMin != nil || p.AgeMax != nil},
		{"Condition", p.Condition != nil},
		{"MedicationRequest", f.NeedsSeries()},
	} {
		if !needed.isNeeded {
			continue
		}
		if err := x.mayFHIR(needed.resourceType, access.FHIRRead); err != nil {
			return err
		}
	}
	return nil
}

// bulkVerbs is what a bulk export needs of every type in it, to be started and
// to be read: who may only read a resource by its id must not list all.
const bulkVerbs = access.FHIRRead | access.FHIRSearch

// mayReadBulk returns an error if the token may not read and search all types in
// a bulk export, or read what selected its patients.
func (x *exchange) mayReadBulk(e *reports.Export) (export.Bulk, error) {
	b, err := export.StoredBulk(&e.ExportRequest, e.CreatedAt)
	if err != nil {
		return b, err
	}
	for _, t := range b.Types {
		if err := x.mayFHIR(t, bulkVerbs); err != nil {
			return b, err
		}
	}
	if b.Filters != nil {
		return b, x.mayFilter(b.Filters)
	}
	return b, nil
}
