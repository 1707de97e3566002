package api

import (
	"anodyne.example/anodyne/internal/access"
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

// mayReadBulk returns an error if the token may not read all types in a bulk
// export.
func (x *exchange) mayReadBulk(e *reports.Export) (export.Bulk, error) {
	b, err := export.StoredBulk(&e.ExportRequest, e.CreatedAt)
	if err != nil {
		return b, err
	}
	for _, t := range b.Types {
		if err := x.mayFHIR(t, access.FHIRRead); err != nil {
			return b, err
		}
	}
	return b, nil
}
