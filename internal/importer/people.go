package importer

import (
	"context"
	"errors"
	"slices"
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
	expected map[pain.Identifier]expected
}

// entryKey is how a line refers to its patient.
type entryKey struct {
	identifier pain.Identifier
	patient    string
}

type person struct {
	id      id.Patient
	birth   pain.Date
	missing error
}

func newPeople(org store.Org, dryRun bool) *people {
	p := &people{org: org, seen: map[entryKey]person{}}
	if dryRun {
		p.expected = map[pain.Identifier]expected{}
	}
	return p
}

type expected struct {
	content patients.ImportHash
	birth   pain.Date
}

// expect records a patient in a dry run. It returns false if an earlier line
// has one of the identifiers and different content.
func (p *people) expect(list []pain.Identifier, content patients.ImportHash, birth pain.Date) bool {
	if p.expected == nil {
		return true
	}
	for _, one := range list {
		if before, there := p.expected[one]; there && before.content != content {
			return false
		}
	}
	for _, one := range list {
		p.expected[one] = expected{content, birth}
	}
	return true
}

// find returns the patient of a line. A missing or merged patient is a fault of
// the line; any other error is not.
func (p *people) find(ctx context.Context, e entry) (id.Patient, pain.Date, error) {
	key, err := e.reference()
	if err != nil {
		return id.Patient{}, pain.Date{}, err
	}
	found, ok := p.seen[key]
	if !ok {
		if found, err = p.look(ctx, key); err != nil {
			return found.id, found.birth, err
		}
		if len(p.seen) == maxPeople {
			clear(p.seen)
		}
		p.seen[key] = found
	}
	return found.id, found.birth, found.missing
}

// reference returns how a clinical line refers to its patient.
func (e *entry) reference() (key entryKey, err error) {
	list := e.identifiers
	if e.external != "" {
		list = append(slices.Clip(list), pain.Identifier{System: externalID, Value: e.external})
	}
	switch {
	case len(list) == 0 && e.patient == "":
		return key, errNoReference
	case len(list) > 1 || len(list) == 1 && e.patient != "":
		return key, fault.Parameter(patientID, nil, "Only one of patient_id, external_id and the identifiers may be given.")
	case len(list) == 1:
		key.identifier = list[0]
	}
	key.patient = e.patient
	return key, nil
}

func (p *people) look(ctx context.Context, key entryKey) (found person, err error) {
	if key.patient == "" {
		return p.identified(ctx, key.identifier)
	}
	if found.id, err = id.Parse[id.PatientKind](key.patient); err == nil {
		found.birth, err = p.org.BirthDate(ctx, found.id)
	}
	switch {
	case fault.Is(err, fault.PatientMerged):
		found.missing, err = fault.Parameter(patientID, nil, "The patient with this patient_id was merged into another one."), nil
	case errors.Is(err, id.ErrMalformed) || fault.Is(err, fault.NotFound):
		found.missing, err = fault.Parameter(patientID, nil, "There is no patient with this patient_id."), nil
	}
	return found, err
}

func (p *people) identified(ctx context.Context, one pain.Identifier) (found person, err error) {
	there := false
	if found.id, found.birth, there, err = p.org.Referred(ctx, one); err != nil || there {
		return found, err
	}
	if one.System == externalID { // imported before patients had identifiers
		if found.id, found.birth, there, err = p.org.ImportedKey(ctx, patients.ExternalKey(one.Value)); err != nil || there {
			return found, err
		}
	}
	if awaited, ok := p.expected[one]; ok {
		// Any identifier will do: a dry run stores nothing.
		return person{id: id.New[id.PatientKind](time.Now()), birth: awaited.birth}, nil
	}
	if one.System == externalID {
		found.missing = fault.Parameter(externalID, nil, "No patient with this external_id was imported.")
	} else {
		found.missing = fault.Parameter(identifier+one.System, nil, "There is no patient with this identifier.")
	}
	return found, nil
}
