package cohort

import (
	"cmp"
	"slices"
)

// changeable is a chunk that can return a changed version of itself. Changes
// are sorted by number and may name a patient twice; first is the number of
// its first slot. It fails if numbers are missing.
type changeable[C, P any] interface {
	chunked
	with(changed []P, first int64) (C, bool)
}

// ofPatient is data of the patient with a number.
type ofPatient interface{ number() int64 }

// withChanges returns chunks of size patients with changes applied, which may
// be in any order. Unchanged chunks are shared. It fails if a number is
// missing, which means that the changes do not belong to these chunks.
func withChanges[C changeable[C, P], P ofPatient](chunks []C, changed []P, size int64, empty func() C) (next []C, ok bool) {
	if len(changed) == 0 {
		return chunks, true
	}
	slices.SortFunc(changed, func(a, b P) int { return cmp.Compare(a.number(), b.number()) })
	next = slices.Clone(chunks)
	for len(changed) > 0 {
		i := int((changed[0].number() - 1) / size)
		first := int64(i)*size + 1
		inChunk := len(changed)
		if after := slices.IndexFunc(changed, func(p P) bool { return p.number() >= first+size }); after >= 0 {
			inChunk = after
		}
		if i == len(next) && (i == 0 || int64(next[i-1].len()) == size) {
			next = append(next, empty())
		}
		if i >= len(next) {
			return nil, false
		}
		if next[i], ok = next[i].with(changed[:inChunk], first); !ok {
			return nil, false
		}
		changed = changed[inChunk:]
	}
	return next, true
}
