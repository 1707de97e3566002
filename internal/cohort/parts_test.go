package cohort

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/pain"
)

// Through any history of creations, renamings and erasures, every version of a
// roster finds what a look at every name finds, and no search is left much to
// look at one by one.
//
//test:norace
func TestPartsThroughHistories(t *testing.T) {
	syllables := []string{"an", "na", "Ås", "é", "Łu", "Νί", "ΣΟΣ", "Ё", "ıİ", "ß", "😀", "李", "%", " ", "x"}
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 9))
		newName := func() string {
			var name strings.Builder
			for range 1 + random.IntN(6) {
				name.WriteString(syllables[random.IntN(len(syllables))])
			}
			return pain.Fold(name.String())
		}
		var now roster
		var model []patient
		made := map[*parts]bool{}
		for range 80 {
			changed := map[int64]bool{}
			for range random.IntN(20) * min(1, len(model)) {
				p := &model[random.IntN(len(model))]
				p.entry = newName()
				if random.IntN(4) == 0 {
					p.key, p.entry = key{}, ""
				}
				changed[p.no] = true
			}
			for range 1 + random.IntN(5)*random.IntN(60) {
				no := int64(len(model)) + 1
				model, changed[no] = append(model, patient{no, key{1, uint64(no)}, newName(), 1}), true
			}
			var list []patient
			for no := range changed {
				list = append(list, model[no-1])
			}
			before, old := now, slices.Clone(unpack(now))
			var ok bool
			if now, ok = now.with(list); !ok {
				t.Fatal("the changes were refused")
			}
			checkParts(t, now, made)
			for range 6 {
				term := newName()
				if name := model[random.IntN(len(model))].entry; name != "" {
					from := random.IntN(len(name))
					term = name[from : from+1+random.IntN(len(name)-from)]
				}
				expectNames(t, now, model, term)
				expectNames(t, before, old, term)
			}
		}
		if len(now) < 2 || len(made) < 4 {
			t.Errorf("seed %d: %d chunks, parts made %d times: this tests little", seed, len(now), len(made))
		}
	}
}

// Parts are not made for every change.
func TestPartsAreMadeForManyChanges(t *testing.T) {
	const times = 5
	r, made := newPeople(chunkSize+1).roster, map[*parts]bool{}
	first := r[0].parts
	for i := range int64(times * (mostChanged + 1)) {
		r, _ = r.with([]patient{{i*7%chunkSize + 1, key{1, 1}, "renamed", 1}})
		checkParts(t, r, made)
	}
	if delete(made, first); len(made) != times {
		t.Errorf("renaming %d patients made parts %d times, want %d", times*(mostChanged+1), len(made), times)
	}
	clear(made)
	for i := range int64(times * (mostUnsorted + 1)) {
		r, _ = r.with([]patient{{chunkSize + 2 + i, key{1, 1}, "added", 1}})
		checkParts(t, r[1:], made)
	}
	if len(made) != times {
		t.Errorf("adding %d patients made parts %d times, want %d", times*(mostUnsorted+1), len(made), times)
	}
}

// checkParts looks whether no chunk leaves a search more to look at than it
// should, and notes the parts there are.
func checkParts(t *testing.T, r roster, made map[*parts]bool) {
	t.Helper()
	for i, c := range r {
		if unsorted := c.len() - c.sorted; len(c.changed) > mostChanged || unsorted > mostUnsorted || c.len() == chunkSize && unsorted > 0 {
			t.Errorf("chunk %d of %d slots: %d changed, %d not sorted", i, c.len(), len(c.changed), unsorted)
		}
		if c.parts != nil {
			made[c.parts] = true
		}
	}
}

func expectNames(t *testing.T, r roster, patients []patient, term string) {
	t.Helper()
	words, _ := newTerm(term)
	if words == nil {
		return // only spaces
	}
	var want, got []int64
	for _, p := range patients {
		if containsWords(p.entry, term) {
			want = append(want, p.no)
		}
	}
	for i, c := range r {
		var found slots
		words.find(c, &found)
		for _, slot := range found.append(nil) {
			got = append(got, int64(i)*chunkSize+1+int64(slot))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q: found %d patients, want %d: %v, want %v", term, len(got), len(want), got, want)
	}
}

// containsWords reports whether a folded name contains a term, or words that
// begin with all words of the term.
func containsWords(name, term string) bool {
	return strings.Contains(name, strings.TrimSpace(term)) || !slices.ContainsFunc(strings.Fields(term), func(word string) bool {
		for at := range len(name) {
			if strings.HasPrefix(name[at:], word) && (at == 0 || strings.IndexByte(" -'.%_\\*;", name[at-1]) >= 0) {
				return false
			}
		}
		return true
	})
}

// The memory of the search index is counted: a chunk with parts takes more
// than its names.
func TestPartsAreCounted(t *testing.T) {
	full := newPeople(chunkSize).roster[0]
	bare := *full
	bare.parts = nil
	if got, least := full.bytes()-bare.bytes(), int64(len(full.parts.slots))*2+4*buckets; got < least {
		t.Errorf("parts count %d bytes, and take %d", got, least)
	}
	if few := newPeople(mostUnsorted).roster[0]; few.parts != nil {
		t.Error("an organisation with few patients has parts")
	}
}
