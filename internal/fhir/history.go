package fhir

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// A Condition's id and what is kept of it are stored by the part of the id that
// follows from the contents of its entry. When the medical history changes, they
// move along with the entries.

// FollowHistory returns what is kept beside a patient whose medical history
// changed from one to another. An entry of the new history is one of the old
// one, and its Condition keeps the id and the elements that were kept, if
//
//  1. it has the same contents, or else
//  2. no other entry of either history has its condition, or else
//  3. the histories have as many entries, and the one at the same place has a
//     code, an onset date or a word of the condition in common with it, or else
//  4. it is the only one that is left in both histories.
//
// In the last two cases it is another entry if both have a code of the same
// system, and the codes differ. What was kept of other entries is dropped.
func (k Kept) FollowHistory(before, after pain.History) (Kept, error) {
	if before == after {
		return k, nil
	}
	old, err := before.Entries()
	if err != nil {
		return nil, err
	}
	entries, err := after.Entries()
	if err != nil {
		return nil, err
	}
	return k.FollowEntries(old, entries, sameEntries(old, entries)), nil
}

// FollowEntries is [Kept.FollowHistory] if it is known which entries are the
// same: of has the index of each new entry in the old history, or -1.
func (k Kept) FollowEntries(before, after []pain.HistoryEntry, of []int) Kept {
	oldParts, parts := entryParts(before), entryParts(after)
	names := k.conditionNames(oldParts)
	moved := Kept{}
	for key, value := range k {
		if !strings.HasPrefix(key, "Condition/") && !strings.HasPrefix(key, conditionName("")) {
			moved[key] = value
		}
	}
	for i, part := range parts {
		if i >= len(of) || of[i] < 0 {
			continue
		}
		if kept, ok := k["Condition/"+oldParts[of[i]]]; ok {
			moved["Condition/"+part] = kept
		}
		moved.NameCondition(part, names[of[i]])
	}
	return moved
}

// sameEntries returns the index of each new entry in the old history, or -1.
func sameEntries(before, after []pain.HistoryEntry) []int {
	p := pairing{before: before, after: after, of: make([]int, len(after)), taken: make([]bool, len(before))}
	for i := range p.of {
		p.of[i] = -1
	}
	p.byContents()
	p.byCondition()
	if len(before) == len(after) {
		for i := range after {
			if p.of[i] < 0 && !p.taken[i] && related(&before[i], &after[i]) && !otherCode(&before[i], &after[i]) {
				p.pair(i, i)
			}
		}
	}
	if old, entries := p.left(); len(old) == 1 && len(entries) == 1 && !otherCode(&before[old[0]], &after[entries[0]]) {
		p.pair(old[0], entries[0])
	}
	return p.of
}

// pairing finds which entries of two histories are the same.
type pairing struct {
	before, after []pain.HistoryEntry
	of            []int  // by new entry
	taken         []bool // by old entry
}

func (p *pairing) pair(old, entry int) { p.of[entry], p.taken[old] = old, true }

// left returns the entries that are not paired.
func (p *pairing) left() (old, entries []int) {
	for i := range p.before {
		if !p.taken[i] {
			old = append(old, i)
		}
	}
	for i := range p.after {
		if p.of[i] < 0 {
			entries = append(entries, i)
		}
	}
	return old, entries
}

// byContents pairs equal entries, several of them in order.
func (p *pairing) byContents() {
	at := map[pain.HistoryEntry][]int{}
	for i, e := range p.before {
		at[e] = append(at[e], i)
	}
	for i, e := range p.after {
		if list := at[e]; len(list) > 0 {
			p.pair(list[0], i)
			at[e] = list[1:]
		}
	}
}

// byCondition pairs entries that alone have a condition.
func (p *pairing) byCondition() {
	count := func(entries []pain.HistoryEntry) map[string]int {
		n := map[string]int{}
		for i := range entries {
			n[pain.Fold(entries[i].Condition)]++
		}
		return n
	}
	before, after := count(p.before), count(p.after)
	at := map[string]int{}
	old, entries := p.left()
	for _, i := range old {
		at[pain.Fold(p.before[i].Condition)] = i
	}
	for _, i := range entries {
		name := pain.Fold(p.after[i].Condition)
		if j, ok := at[name]; ok && before[name] == 1 && after[name] == 1 {
			p.pair(j, i)
		}
	}
}

// related reports whether two entries have something in common that identifies
// a condition.
func related(a, b *pain.HistoryEntry) bool {
	same := func(x, y string) bool { return x != "" && x == y }
	words := strings.Fields(pain.Fold(b.Condition))
	return same(a.ICD10Code, b.ICD10Code) || same(a.SNOMEDCode, b.SNOMEDCode) || same(a.OnsetDate, b.OnsetDate) ||
		slices.ContainsFunc(strings.Fields(pain.Fold(a.Condition)), func(word string) bool { return slices.Contains(words, word) })
}

// otherCode reports whether two entries have different codes of one system.
func otherCode(a, b *pain.HistoryEntry) bool {
	differ := func(x, y string) bool { return x != "" && y != "" && x != y }
	return differ(a.ICD10Code, b.ICD10Code) || differ(a.SNOMEDCode, b.SNOMEDCode)
}
