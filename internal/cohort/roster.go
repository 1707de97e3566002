package cohort

import (
	"context"
	"errors"
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

// roster holds an organisation's patients in order of their numbers: full
// chunks, except for the last. It is immutable; a refresh creates a new one
// that shares unchanged chunks.
type roster []*chunk

// rosterOf returns a roster of patients in order, whatever their numbers, that
// is searched once.
func rosterOf(list []patient) (r roster) {
	for some := range slices.Chunk(list, chunkSize) {
		c := newChunk(int64(len(some)))
		for _, p := range some {
			c.add(p)
		}
		r = append(r, c)
	}
	return r
}

// names is the read model for search.
var names = &kind[*chunk]{name: "names", size: chunkSize, read: readChunk, once: readNames, follow: followNames}

// with returns the roster with changes applied, which may be in any order. It
// fails if a number is missing, which means that the changes do not belong to
// this roster. Only the newest roster may be changed; see chunk.
func (r roster) with(changed []patient) (next roster, ok bool) {
	return withChanges(r, changed, chunkSize, func() *chunk { return newChunk(0) })
}

func followNames(ctx context.Context, org store.Org, chunks []*chunk, after journal.Pos, most int64) (next []*chunk, head journal.Pos, ok bool, err error) {
	var changed []patient
	var unreadable error
	head, complete, err := org.ChangedPatients(ctx, after, most, func(item patients.PatientItem) {
		p, err := patientOf(&item)
		if err != nil {
			unreadable = err
		}
		changed = append(changed, p)
	}, func(no int64) {
		changed = append(changed, patient{no: no})
	})
	if err = errors.Join(err, unreadable); err != nil || !complete {
		return nil, head, false, err
	}
	next, ok = roster(chunks).with(changed)
	return next, head, ok, nil
}

// patientOf returns what a chunk holds of a patient.
func patientOf(item *patients.PatientItem) (patient, error) {
	entry, err := entryOf(item.Name, item.Identifiers)
	if err != nil {
		return patient{}, err
	}
	birth, err := pain.ParseDate(string(item.DateOfBirth))
	return patient{item.No, keyOf(item.ID), entry, bornOn(birth)}, err
}

func readChunk(ctx context.Context, org store.Org, first, last int64) (*chunk, error) {
	read, err := readNames(ctx, org, first, last)
	if err != nil {
		return nil, err
	}
	return read.fit(), nil
}

// readNames returns a chunk that is searched once, so its parts are not
// sorted.
func readNames(ctx context.Context, org store.Org, first, last int64) (*chunk, error) {
	read := newChunk(last - first + 1)
	fillTo := func(no int64) {
		for first+int64(read.len()) < no {
			read.add(patient{})
		}
	}
	var unreadable error
	err := org.PatientRange(ctx, first, last, func(item patients.PatientItem) {
		fillTo(item.No)
		p, err := patientOf(&item)
		if err != nil {
			unreadable = err
		}
		read.add(p)
	})
	if err = errors.Join(err, unreadable); err != nil {
		return nil, err
	}
	fillTo(last + 1)
	return read, nil
}
