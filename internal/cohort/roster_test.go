package cohort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// unpack lists the patients of a roster.
func unpack(r roster) (patients []patient) {
	for i, c := range r {
		for slot, k := range c.keys {
			patients = append(patients, patient{int64(i)*chunkSize + int64(slot) + 1, k, string(c.entry(slot)), c.born[slot]})
		}
	}
	return patients
}

// numbered makes patients with consecutive numbers.
func numbered(first, last int64) (patients []patient) {
	for no := first; no <= last; no++ {
		patients = append(patients, patient{no, key{1, uint64(no)}, fmt.Sprintf("name %d", no), 1})
	}
	return patients
}

func TestRosterTakesChangesAndLeavesTheOldOneAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var now roster
	var model []patient
	type version struct {
		roster roster
		want   []patient
	}
	var versions []version
	for round := range 60 {
		var changed []patient
		for range random.IntN(6) {
			if len(model) > 0 {
				p := &model[random.IntN(len(model))]
				p.entry = fmt.Sprintf("%*d", random.IntN(30), round)
				changed = append(changed, *p, *p) // twice, as the journal may
			}
		}
		added := numbered(int64(len(model))+1, int64(len(model)+random.IntN(400)))
		model = append(model, added...)
		changed = append(changed, added...)
		changed = append(changed, added...)
		random.Shuffle(len(changed), func(i, j int) { changed[i], changed[j] = changed[j], changed[i] })
		// Of a patient that changed twice in a round all entries are as it is now.
		for i := range changed {
			changed[i] = model[changed[i].no-1]
		}
		next, ok := now.with(changed)
		if !ok {
			t.Fatalf("round %d: refused", round)
		}
		now = next
		versions = append(versions, version{now, slices.Clone(model)})
	}
	if len(now) < 2 {
		t.Fatalf("%d patients do not make a second chunk", len(model))
	}
	for i, v := range versions {
		if got := unpack(v.roster); !slices.Equal(got, v.want) {
			t.Fatalf("version %d has %d patients and is not what it was when it was made", i, len(got))
		}
	}
}

func TestRosterRefusesAGap(t *testing.T) {
	full := newRoster(numbered(1, chunkSize))
	for _, test := range []struct {
		name    string
		roster  roster
		changed []patient
	}{
		{"the first is left out", nil, numbered(2, 3)},
		{"one is left out", newRoster(numbered(1, 10)), numbered(12, 12)},
		{"a chunk is left out", full, numbered(2*chunkSize+1, 2*chunkSize+1)},
		{"the rest of a chunk is left out", newRoster(numbered(1, 10)), numbered(chunkSize+1, chunkSize+1)},
		{"the first of a new chunk is left out", full, numbered(chunkSize+2, chunkSize+2)},
	} {
		if _, ok := test.roster.with(test.changed); ok {
			t.Errorf("%s: taken", test.name)
		}
	}
}

func TestRosterSharesWhatDidNotChange(t *testing.T) {
	patients := numbered(1, chunkSize+10)
	before := newRoster(patients)
	same, _ := before.with([]patient{patients[3], patients[chunkSize+3]})
	if same[0] != before[0] || same[1] != before[1] {
		t.Error("chunks were packed again although no name changed")
	}
	renamed, _ := before.with([]patient{{no: 4, key: patients[3].key, entry: "other"}})
	if renamed[0] == before[0] || renamed[1] != before[1] {
		t.Error("a new name must change its own chunk and no other")
	}
}

func TestFullChunkHasNoSpareMemory(t *testing.T) {
	var r roster
	for _, p := range numbered(1, chunkSize) {
		r, _ = r.with([]patient{p})
	}
	if got, want := sizeOf(r), sizeOf(newRoster(numbered(1, chunkSize))); got != want {
		t.Errorf("a chunk that grew takes %d bytes, one that was loaded %d", got, want)
	}
}
