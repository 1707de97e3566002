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

// maxReference is the maximum length of an external identifier.
const maxReference = 200

// patientBuilder groups patients into chunks, in file order.
type patientBuilder struct {
	*job
	send  func(chunk) error
	chunk patientChunk
}

func (b *patientBuilder) take(r row, e entry) error {
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
	imported := patients.ImportedPatient{Content: contentOf(Patients, &e), External: e.external != "", Patient: p, Change: journal.Change{
		Audit:   audit.Entry{At: now, Actor: audit.Operator, Action: audit.PatientCreate, Resource: p.ID.String(), Details: []byte(`{"import":true}`)},
		Event:   event.Patient(event.PatientCreated, now, p.ID),
		Subject: p.ID,
	}}
	if imported.External {
		imported.Key = keyOf(e.external)
		if !b.people.expect(imported.Key, imported.Content, p.DateOfBirth) {
			return errOtherValues
		}
	} else {
		imported.Content = b.repeats.number(imported.Content)
	}
	b.chunk.rows, b.chunk.patients = append(b.chunk.rows, r), append(b.chunk.patients, imported)
	if len(b.chunk.rows) == chunkLines {
		return b.finish()
	}
	return nil
}

// errOtherValues prevents two persons with the same external identifier from
// being taken for one.
var errOtherValues = fault.Parameter(externalID, nil, "This external_id was already imported with different values; an import does not change patients.")

func (b *patientBuilder) finish() error {
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
}

func (c patientChunk) lines() int64 { return int64(len(c.rows)) }

func (c patientChunk) keep(ctx context.Context, org store.Org, refuse func(row, error) error) (int64, error) {
	added, others, err := org.ImportPatients(ctx, c.patients)
	if err != nil {
		return 0, err
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
		if err := refuse(c.rows[i], errOtherValues); err != nil {
			return err
		}
	}
	return nil
}
