package importer

import (
	"context"

	"anodyne/internal/audit"
	"anodyne/internal/event"
	"anodyne/internal/fault"
	"anodyne/internal/id"
	"anodyne/internal/pain"
	"anodyne/internal/store"
	"anodyne/internal/strictjson"
)

// maxReference is how long an identifier elsewhere may be.
const maxReference = 200

// patientBuilder puts patients together to chunks, in the order of the file.
type patientBuilder struct {
	*job
	send  func(chunk) error
	chunk patientChunk
}

func (b *patientBuilder) take(_ row, e entry) error {
	if len(e.external) > maxReference {
		return fault.Parameter(externalID, nil, "external_id must have at most 200 bytes.")
	}
	object, err := strictjson.Parse(e.body)
	if err != nil {
		return err
	}
	now := b.Now()
	p, err := pain.NewPatient(object, id.New[id.PatientKind](now), now)
	if err != nil {
		return err
	}
	imported := store.ImportedPatient{External: e.external != "", Patient: p, Change: store.Change{
		Audit:   audit.Entry{At: now, Actor: audit.Operator, Action: audit.PatientCreate, Resource: p.ID.String(), Details: []byte(`{"import":true}`)},
		Event:   event.Patient(event.PatientCreated, now, p.ID),
		Subject: p.ID,
	}}
	if imported.External {
		imported.Hash = keyOf(e.external)
		b.people.expect(imported.Hash, p.DateOfBirth)
	} else {
		imported.Hash = b.repeats.number(contentOf(Patients, &e))
	}
	if b.chunk = append(b.chunk, imported); len(b.chunk) == chunkLines {
		return b.finish()
	}
	return nil
}

func (b *patientBuilder) finish() error {
	if len(b.chunk) == 0 {
		return nil
	}
	c := b.chunk
	b.chunk = nil
	return b.send(c)
}

type patientChunk []store.ImportedPatient

func (c patientChunk) lines() int64 { return int64(len(c)) }

func (c patientChunk) keep(ctx context.Context, org store.Org, _ func(int, error) error) (int64, error) {
	added, err := org.ImportPatients(ctx, c)
	return int64(added), err
}

func (c patientChunk) preview(ctx context.Context, org store.Org) (int64, error) {
	var known, unknown []store.ImportHash
	for i := range c {
		if c[i].External {
			known = append(known, c[i].Hash)
		} else {
			unknown = append(unknown, c[i].Hash)
		}
	}
	byKey, err := org.Imported(ctx, true, known)
	if err != nil {
		return 0, err
	}
	byContent, err := org.Imported(ctx, false, unknown)
	return c.lines() - int64(byKey+byContent), err
}
