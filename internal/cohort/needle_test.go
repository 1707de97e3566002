package cohort

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Few different letters make many near misses; long names pass the width of
// a word.
var drawName = rapid.Custom(func(t *rapid.T) string {
	length := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(50, 66)).Draw(t, "length")
	return rapid.StringOfN(rapid.SampledFrom([]rune("aaaanno é%_я")), length, length, -1).Draw(t, "name")
})

func TestNeedleFindsWhatContainsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(drawName, 1, 60).Draw(t, "names")
		c := &chunk{}
		for _, name := range names {
			c.add(key{}, name)
		}
		term := rapid.StringOfN(rapid.SampledFrom([]rune("aanno é%я")), 1, 5, -1).Draw(t, "term")
		if name := rapid.SampledFrom(names).Draw(t, "a name"); name != "" && rapid.Bool().Draw(t, "its end") {
			runes := []rune(name)
			term = string(runes[rapid.IntRange(0, len(runes)-1).Draw(t, "from"):])
		}
		var want []int
		for slot, name := range names {
			if strings.Contains(name, term) {
				want = append(want, slot)
			}
		}
		n := newNeedle([]byte(term), c.text)
		for _, n.jump = range []bool{true, false} {
			var got []int
			n.find(c, func(slot int) { got = append(got, slot) })
			if !slices.Equal(got, want) {
				t.Fatalf("jump=%v: %q is in slots %v, found in %v", n.jump, term, want, got)
			}
		}
	})
}

// The last letter of a name must be seen wherever the name lies in a word of
// marks, and however long it is.
func TestNeedleSeesTheLastLetter(t *testing.T) {
	for before := range 9 {
		for length := 1; length < 80; length++ {
			c := &chunk{}
			c.add(key{}, strings.Repeat("a", before))
			c.add(key{}, strings.Repeat("a", length-1)+"b")
			c.add(key{}, "a")
			n := newNeedle([]byte("b"), c.text)
			for _, n.jump = range []bool{true, false} {
				var got []int
				n.find(c, func(slot int) { got = append(got, slot) })
				if !slices.Equal(got, []int{1}) {
					t.Fatalf("%d letters after %d, jump=%v: found in %v", length, before, n.jump, got)
				}
			}
		}
	}
}

// A needle is used on one chunk after the other; marks of a long one must not
// show in a short one.
func TestNeedleForgetsTheChunkBefore(t *testing.T) {
	long, short := &chunk{}, &chunk{}
	for range 100 {
		long.add(key{}, "aaaaaaaaaaaa")
	}
	short.add(key{}, "b")
	short.add(key{}, "bb")
	n := newNeedle([]byte("a"), long.text)
	if n.jump {
		t.Fatal("the letter that all names are made of was taken to be rare")
	}
	n.find(long, func(int) {})
	n.find(short, func(slot int) { t.Errorf("found in slot %d, which has no a", slot) })
}

func TestNeedleTakesTheRarestBytes(t *testing.T) {
	for _, test := range []struct {
		term, sample string
		rare, second int
		jump         bool
	}{
		{"anx", strings.Repeat("aan ", 100), 2, 1, true},
		{"xan", strings.Repeat("aan ", 100), 0, 2, true},
		{"an", strings.Repeat("aan ", 100), 1, 0, false},
		{"a", strings.Repeat("aan ", 100), 0, 0, false},
		{"aa", strings.Repeat("aan ", 100), 0, 1, false},
		{"a", "", 0, 0, false},
	} {
		n := newNeedle([]byte(test.term), []byte(test.sample))
		if n.rare != test.rare || n.second != test.second || n.jump != test.jump {
			t.Errorf("%q: rare %d, second %d, jump %v; want %d, %d, %v", test.term, n.rare, n.second, n.jump, test.rare, test.second, test.jump)
		}
	}
}
