package cohort

import (
	"cmp"
	"slices"
)

// roster is an organisation's patients in order of their numbers: chunks that
// are all full but the last. It does not change; a refresh makes a new one
// that shares the chunks in which nothing changed.
type roster []*chunk

// with gives the roster after changes, in any order. It fails when a number
// is left out, which means that the changes are not those of this roster.
// Only the newest roster may be changed; see chunk.
func (r roster) with(changed []patient) (next roster, ok bool) {
	if len(changed) == 0 {
		return r, true
	}
	slices.SortFunc(changed, func(a, b patient) int { return cmp.Compare(a.no, b.no) })
	next = slices.Clone(r)
	for len(changed) > 0 {
		i := int((changed[0].no - 1) / chunkSize)
		first := int64(i)*chunkSize + 1
		inChunk := len(changed)
		if after := slices.IndexFunc(changed, func(p patient) bool { return p.no >= first+chunkSize }); after >= 0 {
			inChunk = after
		}
		if i == len(next) && (i == 0 || next[i-1].len() == chunkSize) {
			next = append(next, &chunk{})
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

func (r roster) bytes() (total int64) {
	for _, c := range r {
		if c != nil {
			total += c.bytes()
		}
	}
	return total
}
