// Package fhirwrite turns FHIR resources into writes of the store: it resolves
// references, joins the parts of one record, applies the rules of internal/pain
// and computes what is kept beside a record. The API uses it for single
// resources and Bundles, and the importer for files. What a resource means is in
// internal/fhir; how writes are stored is in internal/store/patients.
package fhirwrite

import (
	"context"
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
)

// Writer holds what resources that are written together share.
type Writer struct {
	Org     store.Org
	Mapping fhir.Mapping
	Now     time.Time
	// Line returns the audit line of a write, to be completed.
	Line func(action audit.Action, resource string) audit.Entry
	// Import marks what is written as imported. Records must then have a time.
	Import bool
	// Known, if set, finds patients by references that are not those of this
	// service, such as those of other files of an import.
	Known func(item int, reference string) (id.Patient, bool)
	// Expected has the dates of birth of patients that are not stored, but would
	// be if this were not a dry run.
	Expected map[id.Patient]pain.Date
	// Skip, if set, is called with the items whose patients are known. Those that
	// it returns are not written.
	Skip func(ctx context.Context, p *Plan) (items []int, err error)
}

// Item is one resource to create or update.
type Item struct {
	Body []byte
	// Draft is the resource as [fhir.Mapping.Read] returns it; nil if it is to
	// be read.
	Draft *fhir.Draft
	// FullURL is the address by which other items refer to this one; "" if
	// there is none.
	FullURL string
	// Update says that the item updates the resource with ID, or the one with
	// Sought. It creates a resource otherwise.
	Update bool
	ID     string
	// Sought is the identifier of a conditional update, or of a conditional
	// create, which does nothing if there is such a resource. Its system is the
	// one of FHIR.
	Sought pain.Identifier
	// IfMatch is the version that the resource to update must have; "" means
	// any.
	IfMatch string
}

// Result is the outcome of an item.
type Result struct {
	Status       int // of HTTP: 201 for what was created, otherwise 200
	Type, ID     string
	Version      int64
	LastModified time.Time

	generated []byte
	kept      []byte
}

// Resource returns the resource as it is stored.
func (r *Result) Resource() []byte { return fhir.Restore(r.generated, r.kept) }

// Problem is why an item cannot be written: issues of the resource, or a fault.
type Problem struct {
	Item   int
	Issues []fhir.Issue
	Err    error
}

// Code returns the code of the fault, or INVALID_PARAMETER for issues.
func (p *Problem) Code() fault.Code {
	if p.Err != nil {
		return fault.CodeOf(p.Err)
	}
	return fault.InvalidParameter
}

// The results of items.
const (
	created = http.StatusCreated
	found   = http.StatusOK
)
