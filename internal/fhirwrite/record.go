package fhirwrite

import (
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// CutResource splits a key of kept elements and identifiers, such as
// Observation/bp, into the type and the part.
func CutResource(resource string) (resourceType, part string, ok bool) {
	return strings.Cut(resource, "/")
}

// resource returns the key of the item's kept elements and identifiers.
func (e *entry) resource() string { return e.draft.Type + "/" + e.draft.Part }

// read makes the record of its parts. It may run beside others.
func (d *draftRecord) read(p *planner) {
	whole := d.join()
	if d.issues != nil {
		return
	}
	object, err := strictjson.Parse(whole.Record)
	if err != nil {
		d.err = err
		return
	}
	e := d.parts[0]
	birth, _ := p.birth(e.patient)
	var fields fault.Fields
	d.record = pain.NewRecord(object, &fields, pain.Intake{PatientID: e.patient, Birth: birth, Now: p.Now, Aliases: p.found.Aliases, NewID: func() id.Record { return d.id }})
	if p.Import {
		if _, has := object.Get("recorded_at"); !has {
			fields.Add("recorded_at", nil, "The time is required in an import.")
		}
		if d.record.Source == "" && whole.Key == "" { // one of this service stays as it was
			d.record.Source = "import"
		}
	}
	if whole.Status == pain.Amended {
		d.record.Status = pain.Amended
	}
	if whole.HasStop && fields.OK() {
		d.record.RestoreStop(whole.Stop, p.Now)
	}
	if err := fields.Err(); err != nil {
		d.blame(err)
	}
}

// join joins the drafts of the parts.
func (d *draftRecord) join() (whole *fhir.Draft) {
	drafts := make([]*fhir.Draft, len(d.parts))
	for i, e := range d.parts {
		drafts[i] = e.draft
	}
	whole, d.issues = fhir.Join(drafts)
	d.wrong = len(d.parts) - 1
	return whole
}

// blame finds the part that has the fields which an error is about.
func (d *draftRecord) blame(err error) {
	d.wrong, d.err = 0, err
	for _, f := range fieldsOf(err) {
		for i, e := range d.parts {
			if e.draft.Path(f.Parameter) != e.draft.Type {
				d.wrong = i
				return
			}
		}
	}
}

// settle reports the problem of a record, or notes what its items become.
func (d *draftRecord) settle(p *planner) {
	if d.err != nil || d.issues != nil {
		if wrong := d.parts[d.wrong]; d.issues != nil {
			p.refuse(wrong, d.issues...)
		} else {
			p.fail(wrong, d.err)
		}
		for _, e := range d.parts {
			p.refuse(e, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: e.draft.Type, Text: "Another part of the same record was rejected."})
		}
		return
	}
	for _, e := range d.parts {
		e.record = d.id
		e.result = Result{Status: created, Type: e.draft.Type, ID: partID(d.id, e.draft.Part), Version: 1, LastModified: d.record.CreatedAt}
		p.addresses.add(e.FullURL, e.draft.Type+"/"+e.result.ID)
	}
}

// partID returns the id of the resource that is a part of a record.
func partID(root id.Record, part string) string {
	if part == "" {
		return resourceID(root)
	}
	return resourceID(root) + "-" + part
}

// show maps a new record out again, and notes what is to be kept of its parts.
// It may run beside others.
func (d *draftRecord) show(p *planner) {
	if d.parts[0].failed {
		return
	}
	resources, err := p.Mapping.As(d.parts[0].draft.Type).Record(&d.record, fhir.Version{Root: d.id, Number: 1, LastUpdated: d.record.CreatedAt})
	if err != nil {
		d.err = err
		return
	}
	kept := fhir.Kept{}
	for _, e := range d.parts {
		e.keep(p, resources, kept)
		d.extra.Identifiers = append(d.extra.Identifiers, e.identifiers()...)
	}
	d.extra.Kept = kept.Text()
}

// keep notes what is to be kept of an item, given the resources of the record
// that it became.
func (e *entry) keep(p *planner, resources []fhir.Resource, kept fhir.Kept) {
	for _, r := range resources {
		if r.Type == e.result.Type && r.ID == e.result.ID {
			p.keep(kept, e.resource(), e.draft, r.JSON)
			e.result.generated, e.result.kept = r.JSON, kept[e.resource()]
			return
		}
	}
	// The record has no such resource: all of it is kept.
	p.keep(kept, e.resource(), e.draft, []byte(`{}`))
	e.result.generated, e.result.kept = []byte(`{}`), kept[e.resource()]
}

// identifiers returns the identifiers of an item's resource.
func (e *entry) identifiers() (list []patients.RecordIdentifier) {
	for _, one := range e.draft.Identifiers {
		list = append(list, patients.RecordIdentifier{Identifier: one, Resource: e.resource()})
	}
	return list
}
