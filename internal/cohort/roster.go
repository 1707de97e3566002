package cohort

import (
	"context"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

// roster holds an organisation's patients in order of their numbers: full
// chunks, except for the last. It is immutable; a refresh creates a new one
// that shares unchanged chunks.
type roster []*chunk

// names is the read model for search.
var names = &kind[*chunk]{name: "names", size: chunkSize, read: readChunk, once: readNames, follow: followNames}

// with returns the roster with changes applied, which may be in any order. It
// fails if a number is missing, which means that the changes do not belong to
// this roster. Only the newest roster may be changed; see chunk.
func (r roster) with(changed []patient) (next roster, ok bool) {
	return withChanges(r, changed, chunkSize, func() *chunk { return &chunk{} })
}

func followNames(ctx context.Context, org store.Org, chunks []*chunk, after journal.Pos, most int64) (next []*chunk, head journal.Pos, ok bool, err error) {
	var changed []patient
	head, complete, err := org.ChangedPatients(ctx, after, most, func(item patients.PatientItem) {
		changed = append(changed, patient{item.No, keyOf(item.ID), pain.Fold(string(item.Name))})
	})
	if err != nil || !complete {
		return nil, head, false, err
	}
	next, ok = roster(chunks).with(changed)
	return next, head, ok, nil
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
			read.add(key{}, "")
		}
	}
	if err := org.PatientRange(ctx, first, last, func(item patients.PatientItem) {
		fillTo(item.No)
		read.add(keyOf(item.ID), pain.Fold(string(item.Name)))
	}); err != nil {
		return nil, err
	}
	fillTo(last + 1)
	return read, nil
}
