package export

import (
	"encoding/json"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/store/patients"
)

// Deleted is the table of the files of patients that no longer exist, and
// errorFile that of what could not be exported.
const (
	Deleted   = "deleted"
	errorFile = "error"
)

// goneAtOnce is the number of entries in a Bundle of deleted patients.
const goneAtOnce = 500

// mapItem maps an item and adds its resources to the batch. One that cannot be
// mapped is reported in the file of errors, so that the others can be read.
func (w *bulkWriting) mapItem(b *bulkBatch, it bulkItem) {
	switch {
	case it.patient != nil:
		p := it.patient
		if w.wants("Patient") {
			r, err := p.Resource(w.mapping)
			w.keep(b, "Patient/"+fhir.ResourceID(p.ID), err, r)
		}
		if w.wants("Condition") {
			list, err := p.Conditions(w.mapping)
			w.keep(b, "the conditions of Patient/"+fhir.ResourceID(p.ID), err, list...)
		}
	case it.record != nil:
		rec := it.record
		list, err := rec.Resources(w.mapping)
		w.keep(b, "record "+fhir.ResourceID(rec.Root), err, list...)
	case it.chain != nil:
		removed, err := patients.Removed(w.mapping, it.chain)
		var list []fhir.Resource
		for _, r := range removed {
			if !r.UpdatedAt.Before(w.options.Since) {
				list = append(list, r.Resource)
			}
		}
		w.keep(b, "record "+fhir.ResourceID(it.chain[0].Root), err, list...)
	case it.group != nil:
		r, err := w.mapping.StoredGroup(GroupOf(it.group), it.group.Kept)
		w.keep(b, "Group/"+fhir.ResourceID(it.group.ID), err, r)
	}
}

// GroupOf returns a cohort as the mapping takes it.
func GroupOf(c *patients.Cohort) *fhir.Selection {
	return &fhir.Selection{ID: c.ID, Name: c.Name, Filters: c.Filters, Patients: c.Patients, CreatedAt: c.CreatedAt}
}

func (w *bulkWriting) keep(b *bulkBatch, what string, err error, list ...fhir.Resource) {
	if err != nil {
		b.add(errorFile, outcome(what+" could not be exported: its stored data cannot be read. Give the operator this message."))
		return
	}
	for i := range list {
		if r := &list[i]; w.wants(r.Type) && w.filters.match(r) {
			b.add(r.Type, r.JSON)
		}
	}
}

// outcome returns an OperationOutcome.
func outcome(text string) []byte {
	b, err := json.Marshal(map[string]any{"resourceType": "OperationOutcome", "issue": []any{
		map[string]any{"severity": "error", "code": "processing", "diagnostics": text}}})
	if err != nil {
		panic(err) // strings always marshal
	}
	return b
}

// remove reports a patient that was merged or erased.
func (w *bulkWriting) remove(gone *patients.Gone) error {
	if w.gone = append(w.gone, *gone); len(w.gone) < goneAtOnce {
		return nil
	}
	w.endBundle()
	return w.send()
}

type (
	goneBundle struct {
		ResourceType string      `json:"resourceType"`
		Type         string      `json:"type"`
		Entry        []goneEntry `json:"entry"`
	}
	goneEntry struct {
		Request goneRequest `json:"request"`
	}
	goneRequest struct {
		Extension []mergedInto `json:"extension,omitempty"`
		Method    string       `json:"method"`
		URL       string       `json:"url"`
	}
	mergedInto struct {
		URL   string         `json:"url"`
		Value fhir.Reference `json:"valueReference"`
	}
)

// endBundle adds the patients that are gone as a Bundle that deletes them. An
// extension says into which patient one was merged.
func (w *bulkWriting) endBundle() {
	if len(w.gone) == 0 {
		return
	}
	bundle := goneBundle{ResourceType: "Bundle", Type: "transaction"}
	for _, g := range w.gone {
		request := goneRequest{Method: "DELETE", URL: "Patient/" + fhir.ResourceID(g.ID)}
		if !g.Into.IsZero() {
			request.Extension = []mergedInto{{w.mapping.ExtensionURL("patient", "merged-into"), fhir.Reference{Reference: "Patient/" + fhir.ResourceID(g.Into)}}}
		}
		bundle.Entry = append(bundle.Entry, goneEntry{request})
	}
	line, err := json.Marshal(bundle)
	if err != nil {
		panic(err) // strings always marshal
	}
	w.gone = nil
	w.batch.add(Deleted, line)
}
