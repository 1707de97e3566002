package cohort

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Few different letters make many near misses.
var drawName = rapid.Custom(func(t *rapid.T) string {
	length := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(50, 66)).Draw(t, "length")
	return rapid.StringOfN(rapid.SampledFrom([]rune("aaaanno é%_я李")), length, length, -1).Draw(t, "name")
})

// Whatever the parts of a chunk are of, with the names that were exchanged or
// added since: a term of any length is found where it is.
func TestNeedleFindsWhatContainsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(drawName, 1, 60).Draw(t, "names")
		sorted := rapid.IntRange(0, len(names)).Draw(t, "names with parts")
		c := newChunk(0)
		for i, name := range names {
			if i == sorted {
				c.sort()
			}
			c.add(patient{int64(i), key{1, 1}, name, 1})
		}
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			slot := rapid.IntRange(0, len(names)-1).Draw(t, "slot")
			names[slot] = drawName.Draw(t, "new name")
			c = c.edit([]patient{{int64(slot), key{1, 1}, names[slot], 1}}, 0)
		}
		term := rapid.StringOfN(rapid.SampledFrom([]rune("aanno é%я李")), 1, 5, -1).Draw(t, "term")
		if name := rapid.SampledFrom(names).Draw(t, "a name"); name != "" && rapid.Bool().Draw(t, "a part of it") {
			from := rapid.IntRange(0, len(name)-1).Draw(t, "from")
			term = name[from:rapid.IntRange(from+1, len(name)).Draw(t, "to")]
		}
		var want, got []int
		for slot, name := range names {
			if strings.Contains(name, term) {
				want = append(want, slot)
			}
		}
		needle := newNeedle([]byte(term))
		needle.candidates(c, func(slot int) {
			if strings.Contains(string(c.name(slot)), term) {
				got = append(got, slot)
			}
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%q is in slots %v, found in %v", term, want, got)
		}
	})
}

// What a search looks at must not be everybody, or it grows with them.
func TestCandidatesAreFew(t *testing.T) {
	c := newPeople(chunkSize).roster[0]
	for slot := 0; slot < chunkSize; slot += 100 {
		name := c.name(slot)
		candidates := c.parts.candidates(partsOf(name))
		if !slices.Contains(candidates, uint16(slot)) || len(candidates) > chunkSize/16 {
			t.Errorf("%q in slot %d has %d candidates", name, slot, len(candidates))
		}
	}
	if got := c.parts.candidates(partsOf([]byte("xyzzy"))); len(got) > chunkSize/64 {
		t.Errorf("a term that is nowhere has %d candidates", len(got))
	}
}
