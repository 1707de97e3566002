package importer

import (
	"context"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// patientBuilder groups patients into chunks, in file order.
type patientBuilder struct {
	*job
	send  func(chunk) error
	chunk patientChunk
}

func (b *patientBuilder) take(r row, e entry) error {
	object, err := strictjson.Parse(e.body)
	if err != nil {
		return err
	}
	now := b.Now()
	p, err := pain.NewPatient(object, id.New[id.PatientKind](now), now)
	if err != nil {
		return err
	}
	list, err := b.identify(&p, e.external)
	if err != nil {
		return err
	}
	imported := patients.ImportedPatient{Content: contentOf(Patients, &e), Patient: p, Change: journal.Change{
		Audit:   audit.Entry{At: now, Actor: audit.Operator, Action: audit.PatientCreate, Resource: p.ID.String(), Details: []byte(`{"import":true}`)},
		Event:   event.Patient(event.PatientCreated, now, p.ID),
		Subject: p.ID,
	}}
	switch {
	case e.external != "":
		imported.Key = patients.ExternalKey(e.external)
	case len(list) > 0:
		imported.Key = keyOfIdentifiers(list)
	default:
		if imported.Content, err = b.repeats.number(&e, imported.Content); err != nil {
			return err
		}
	}
	if !b.people.expect(list, imported.Content, p.DateOfBirth) {
		return otherValues(e.external != "")
	}
	b.chunk.rows, b.chunk.patients, b.chunk.external = append(b.chunk.rows, r), append(b.chunk.patients, imported), append(b.chunk.external, e.external != "")
	if b.chunk.size += r.size(); len(b.chunk.rows) == chunkLines || b.chunk.size >= chunkBytes {
		return b.flush()
	}
	return nil
}

// identify adds the external identifier to those of a patient, and returns all.
func (b *patientBuilder) identify(p *pain.Patient, external string) ([]pain.Identifier, error) {
	if external != "" {
		one, problem := pain.ParseIdentifier(externalID + "|" + external)
		if problem != "" {
			return nil, fault.Parameter(externalID, nil, externalID+" "+problem)
		}
		if err := p.Identify(one); err != nil {
			return nil, err
		}
	}
	return p.Identifiers.List()
}

// otherValues prevents two persons with the same identifier from being taken
// for one.
func otherValues(external bool) error {
	if external {
		return errOtherValues
	}
	return errIdentified
}

var (
	errOtherValues = fault.Parameter(externalID, nil, "This external_id was already imported with different values; an import does not change patients.")
	errIdentified  = fault.Parameter("identifiers", nil, "Another patient has one of these identifiers; an import does not change patients.")
)

func (b *patientBuilder) finish(err error) error {
	if err != nil {
		return err
	}
	return b.flush()
}

func (b *patientBuilder) flush() error {
	if len(b.chunk.rows) == 0 {
		return nil
	}
	c := b.chunk
	b.chunk = patientChunk{}
	return b.send(c)
}

type patientChunk struct {
	rows     []row
	patients []patients.ImportedPatient
	external []bool // whether a row has an external identifier
	size     int    // bytes of the lines
}

func (c patientChunk) lines() int64 { return int64(len(c.rows)) }

func (c patientChunk) bytes() int { return c.size }

func (c patientChunk) join(other chunk) chunk {
	o := other.(patientChunk)
	return patientChunk{append(c.rows, o.rows...), append(c.patients, o.patients...), append(c.external, o.external...), c.size + o.size}
}

func (c patientChunk) keep(ctx context.Context, org store.Org, refuse func(row, error) error) (int64, error) {
	added, others, err := org.ImportPatients(ctx, c.patients)
	if err != nil {
		return int64(added), err
	}
	return int64(added), c.refuse(others, refuse)
}

func (c patientChunk) preview(ctx context.Context, org store.Org, refuse func(row, error) error) (int64, error) {
	there, others, err := org.ImportedPatients(ctx, c.patients)
	if err != nil {
		return 0, err
	}
	return c.lines() - int64(there+len(others)), c.refuse(others, refuse)
}

func (c patientChunk) refuse(others []int, refuse func(row, error) error) error {
	for _, i := range others {
		if err := refuse(c.rows[i], otherValues(c.external[i])); err != nil {
			return err
		}
	}
	return nil
}
