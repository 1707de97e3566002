package fhirwrite

import (
	"context"
	"strconv"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

// mostRecords is the number of records of a patient with one journal entry, as
// in a request of /v1.
const mostRecords = 1000

// draftRecord is the items that are parts of one record.
type draftRecord struct {
	parts  []*entry
	id     id.Record // of a new record
	record pain.Record
	extra  patients.Extra
	// The problem, if there is one, and the part that it is about.
	issues []fhir.Issue
	err    error
	wrong  int
}

// newRecords makes the writes of new records: one for the records of a patient.
func (p *planner) newRecords(ctx context.Context) error {
	list, err := p.joined(ctx)
	if err != nil {
		return err
	}
	parallel(len(list), func(i int) { list[i].read(p) })
	for _, d := range list {
		d.settle(p)
	}
	parallel(len(list), func(i int) { list[i].show(p) })
	type batch struct {
		write *patients.NewRecords
		of    []*entry
	}
	var order []*batch
	open := map[id.Patient]*batch{}
	for _, d := range list {
		e := d.parts[0]
		if e.failed {
			continue
		}
		b := open[e.patient]
		if b == nil || len(b.write.Records) == mostRecords || e.Sought.Value != "" {
			b = &batch{write: &patients.NewRecords{Patient: e.patient}}
			order = append(order, b)
			if e.Sought.Value == "" {
				open[e.patient] = b
			} else {
				b.write.Sought = patients.RecordIdentifier{Identifier: e.Sought, Resource: e.draft.Type + "/" + e.draft.Part}
			}
		}
		b.write.Records, b.write.Extra, b.of = append(b.write.Records, d.record), append(b.write.Extra, d.extra), append(b.of, d.parts...)
	}
	for _, b := range order {
		b.write.Change = p.added(b.write.Patient, b.write.Records)
		p.write(b.write, b.of...)
	}
	return nil
}

// added returns the journal entry of new records.
func (p *planner) added(patientID id.Patient, records []pain.Record) journal.Change {
	line := p.Line(audit.ClinicalCreate, patientID.String())
	line.Details = append(strconv.AppendInt([]byte(`{"count":`), int64(len(records)), 10), '}')
	if p.Import {
		line.Details = append(line.Details[:len(line.Details)-1], `,"import":true}`...)
	}
	ids := make([]id.Record, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return journal.Change{Audit: line, Event: event.ClinicalData(p.Now, patientID, ids, pain.TypeNames(records)), Subject: patientID}
}

// joined returns the records that items create. Items with the same key are
// parts of one.
func (p *planner) joined(ctx context.Context) (list []*draftRecord, err error) {
	type key struct {
		patient id.Patient
		key     string
	}
	byKey := map[key]*draftRecord{}
	for _, e := range p.entries {
		if !e.open() || e.draft.Record == nil || e.Update && e.Sought.Value == "" {
			continue
		}
		if e.Sought.Value != "" {
			exists, err := p.seek(ctx, e)
			if err != nil {
				return nil, err
			}
			if exists || e.failed {
				continue
			}
			if p.claims(e, claim{sought: e.Sought}); e.failed {
				continue
			}
		}
		at := key{e.patient, e.draft.Key}
		d := byKey[at]
		if d == nil || e.draft.Key == "" {
			d = &draftRecord{id: id.New[id.RecordKind](p.Now)}
			list = append(list, d)
			byKey[at] = d
		}
		d.parts = append(d.parts, e)
	}
	return list, nil
}

// seek looks for the record of a conditional create or update. If it exists, a
// create is done, and an update is one of that record.
func (p *planner) seek(ctx context.Context, e *entry) (exists bool, err error) {
	list, err := p.Org.IdentifiedRecords(ctx, e.Sought.System, e.Sought.Value)
	if err != nil {
		return false, err
	}
	var matches []string
	for _, one := range list {
		if resourceType, part, _ := CutResource(one.Resource); resourceType == e.draft.Type {
			e.record, matches = one.Root, append(matches, partID(one.Root, part))
		}
	}
	switch len(matches) {
	case 0:
		return false, nil
	case 1:
	default:
		p.fail(e, fault.New(fault.PreconditionFailed, "Several resources have this identifier."))
		return true, nil
	}
	e.ID = matches[0]
	if e.Update {
		return true, nil
	}
	chain, err := p.Org.FHIRVersions(ctx, e.record)
	if fault.Is(err, fault.NotFound) || len(chain) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	latest := &chain[len(chain)-1]
	e.patient = latest.PatientID // whatever the subject of the item
	e.result = Result{Status: found, Type: e.draft.Type, ID: e.ID, Version: latest.Number, LastModified: latest.UpdatedAt}
	resources, err := latest.Resources(p.Mapping)
	for _, r := range resources {
		if r.Type == e.draft.Type && r.ID == e.ID {
			e.result.generated = r.JSON
		}
	}
	p.addresses.add(e.FullURL, e.draft.Type+"/"+e.ID)
	return true, err
}
