package importer

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
)

// maxPeople is the maximum number of cached patients.
const maxPeople = 50_000

// people finds the patients of clinical lines.
type people struct {
	org  store.Org
	seen map[entryKey]person
	// expected are, in a dry run, the patients that earlier files would have
	// imported.
	expected map[patients.ImportHash]expected
}

type entryKey struct{ external, patient string }

type person struct {
	id      id.Patient
	birth   pain.Date
	missing error
}

func newPeople(org store.Org, dryRun bool) *people {
	p := &people{org: org, seen: map[entryKey]person{}}
	if dryRun {
		p.expected = map[patients.ImportHash]expected{}
	}
	return p
}

type expected struct {
	content patients.ImportHash
	birth   pain.Date
}

// expect records a patient in a dry run. It returns false if an earlier line
// has the same identifier and different content.
func (p *people) expect(key, content patients.ImportHash, birth pain.Date) bool {
	if p.expected == nil {
		return true
	}
	before, there := p.expected[key]
	if !there {
		p.expected[key] = expected{content, birth}
	}
	return !there || before.content == content
}

// find returns the patient of a line. A missing patient is a fault of the
// line; any other error is not.
func (p *people) find(ctx context.Context, e entry) (id.Patient, pain.Date, error) {
	key := entryKey{e.external, e.patient}
	found, ok := p.seen[key]
	if !ok {
		var err error
		if found, err = p.look(ctx, e); err != nil {
			return found.id, found.birth, err
		}
		if len(p.seen) == maxPeople {
			clear(p.seen)
		}
		p.seen[key] = found
	}
	return found.id, found.birth, found.missing
}

func (p *people) look(ctx context.Context, e entry) (found person, err error) {
	switch {
	case e.external == "" && e.patient == "":
		found.missing = errNoReference
	case e.external != "" && e.patient != "":
		found.missing = fault.Parameter(externalID, nil, "Only one of patient_id and external_id may be given.")
	case e.external != "":
		found, err = p.byKey(ctx, keyOf(e.external))
	default:
		if found.id, err = id.Parse[id.PatientKind](e.patient); err == nil {
			found.birth, err = p.org.BirthDate(ctx, found.id)
		}
		if errors.Is(err, id.ErrMalformed) || fault.Is(err, fault.NotFound) {
			found.missing, err = fault.Parameter(patientID, nil, "There is no patient with this patient_id."), nil
		}
	}
	return found, err
}

func (p *people) byKey(ctx context.Context, key patients.ImportHash) (found person, err error) {
	there := false
	if found.id, found.birth, there, err = p.org.ImportedKey(ctx, key); err != nil || there {
		return found, err
	}
	if awaited, ok := p.expected[key]; ok {
		// Any identifier will do: a dry run stores nothing.
		return person{id: id.New[id.PatientKind](time.Now()), birth: awaited.birth}, nil
	}
	found.missing = fault.Parameter(externalID, nil, "No patient with this external_id was imported.")
	return found, nil
}
