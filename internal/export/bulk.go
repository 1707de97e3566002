package export

import (
	"encoding/json"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/reports"
)

// Bulk are the options of a FHIR bulk export.
type Bulk struct {
	// Types are the resource types to include, in the order of [BulkTypes].
	Types []string
	// Since leaves out resources that were last changed before this time. It is
	// a whole second. Zero leaves nothing out.
	Since time.Time
	// Cohort selects the patients in the list of a cohort, and Filters those
	// who match; both are zero for all.
	Cohort  id.Cohort
	Filters *analytics.Params
	// Patients selects among the patients; nil selects all.
	Patients []id.Patient
	// TypeFilters keeps only resources that match one of the searches of their
	// type, if there is one, such as Observation?code=72514-3.
	TypeFilters []string
	// Request is the address of the request, which the manifest repeats.
	Request string
}

// BulkTypes lists the resource types that a bulk export can include, in the
// order of their files.
func BulkTypes() []string { return slices.Clone(bulkTypes) }

var bulkTypes = []string{"Patient", "Condition", "Observation", "QuestionnaireResponse", "MedicationRequest", "MedicationStatement", "Procedure", "AdverseEvent", "DocumentReference", "Group"}

// PatientTypes lists those of an export of patients, which are all except
// Group.
func PatientTypes() []string { return slices.Clone(bulkTypes[:len(bulkTypes)-1]) }

// bulkSources are the data types whose records become resources of a type.
// Those of all others become Observations.
var bulkSources = map[string][]pain.DataType{
	"QuestionnaireResponse": {pain.TypeAssessments},
	"MedicationRequest":     {pain.TypeMedications},
	"MedicationStatement":   {pain.TypeMedications},
	"Procedure":             {pain.TypeProcedures},
	"AdverseEvent":          {pain.TypeAdverseEvents},
	"DocumentReference":     {pain.TypeNotes},
}

// dataTypes returns the types of the records that are needed.
func (b *Bulk) dataTypes() (types []pain.DataType) {
	observed := []pain.DataType{pain.TypeAssessments}
	for _, info := range pain.DataTypes() {
		other := false
		for _, list := range bulkSources {
			other = other || slices.Contains(list, info.Type)
		}
		if !other {
			observed = append(observed, info.Type)
		}
	}
	for _, name := range b.Types {
		list := bulkSources[name]
		if name == "Observation" {
			list = observed
		}
		for _, t := range list {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

// storedBulk is the form in which bulk options are stored: the fields of every
// export, and what only this one has.
type storedBulk struct {
	stored
	FHIR bulkFields `json:"fhir"`
}

type bulkFields struct {
	Request     string   `json:"request"`
	Group       string   `json:"group,omitempty"`
	Patients    []string `json:"patients,omitempty"`
	TypeFilters []string `json:"type_filters,omitempty"`
}

// ExportRequest returns the options as they are stored.
func (b *Bulk) ExportRequest() (reports.ExportRequest, error) {
	s := storedBulk{stored{Include: b.Types, Filters: json.RawMessage("{}")}, bulkFields{Request: b.Request, TypeFilters: b.TypeFilters}}
	if !b.Since.IsZero() {
		s.Since = &b.Since
	}
	if b.Filters != nil {
		s.Filters = append(analytics.AppendParameters([]byte{'{'}, b.Filters, analytics.ForExports), '}')
	}
	if !b.Cohort.IsZero() {
		s.FHIR.Group = b.Cohort.String()
	}
	for _, p := range b.Patients {
		s.FHIR.Patients = append(s.FHIR.Patients, p.String())
	}
	text, err := json.Marshal(s)
	return reports.ExportRequest{Format: reports.FHIR, Parameters: string(text)}, err
}

// StoredBulk returns the options of a stored request. at is when it was made.
func StoredBulk(q *reports.ExportRequest, at time.Time) (b Bulk, err error) {
	var s storedBulk
	if err := json.Unmarshal([]byte(q.Parameters), &s); err != nil {
		return b, err
	}
	b = Bulk{Types: s.Include, TypeFilters: s.FHIR.TypeFilters, Request: s.FHIR.Request}
	if s.Since != nil {
		b.Since = *s.Since
	}
	if string(s.Filters) != "{}" {
		p, err := analytics.StoredParameters(s.Filters, analytics.ForExports, pain.DateOf(at))
		if err != nil {
			return b, err
		}
		b.Filters = &p
	}
	if s.FHIR.Group != "" {
		if b.Cohort, err = id.Parse[id.CohortKind](s.FHIR.Group); err != nil {
			return b, err
		}
	}
	for _, text := range s.FHIR.Patients {
		p, err := id.Parse[id.PatientKind](text)
		if err != nil {
			return b, err
		}
		b.Patients = append(b.Patients, p)
	}
	return b, nil
}
