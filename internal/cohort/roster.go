package cohort

import (
	"context"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
)

// roster is an organisation's patients in order of their numbers: chunks that
// are all full but the last. It does not change; a refresh makes a new one
// that shares the chunks in which nothing changed.
type roster []*chunk

// names is the read model that search runs on.
var names = &kind[*chunk]{name: "names", size: chunkSize, read: readChunk, once: readNames, follow: followNames}

// with gives the roster after changes, in any order. It fails when a number
// is left out, which means that the changes are not those of this roster.
// Only the newest roster may be changed; see chunk.
func (r roster) with(changed []patient) (next roster, ok bool) {
	return withChanges(r, changed, chunkSize, func() *chunk { return &chunk{} })
}

func followNames(ctx context.Context, org store.Org, chunks []*chunk, after store.Pos, most int64) (next []*chunk, head store.Pos, ok bool, err error) {
	var changed []patient
	head, complete, err := org.ChangedPatients(ctx, after, most, func(item store.PatientItem) {
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

// readNames gives a chunk that is searched only once: its parts are not worth
// sorting.
func readNames(ctx context.Context, org store.Org, first, last int64) (*chunk, error) {
	read := newChunk(last - first + 1)
	fillTo := func(no int64) {
		for first+int64(read.len()) < no {
			read.add(key{}, "")
		}
	}
	if err := org.PatientRange(ctx, first, last, func(item store.PatientItem) {
		fillTo(item.No)
		read.add(keyOf(item.ID), pain.Fold(string(item.Name)))
	}); err != nil {
		return nil, err
	}
	fillTo(last + 1)
	return read, nil
}
