package dictionary

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// spellings are the names that may be suggested, grouped by length to make the
// search fast.
type spellings struct {
	keys     []string
	meanings []meaning
	letters  []uint32                  // one bit per letter of the key
	from     [longestSpelled + 4]int32 // index of the first of each length
}

const shortestSpelled, longestSpelled = 4, 30

func (b *book) collectSpellings() {
	offered := func(key string, m meaning) bool {
		return len(key) >= shortestSpelled && len(key) <= longestSpelled && (m.alias < 0 || b.aliases[m.alias].readings == nil)
	}
	s := &b.spelling
	for key, m := range b.byName {
		if offered(key, m) {
			s.from[len(key)+1]++
		}
	}
	for n := 1; n < len(s.from); n++ {
		s.from[n] += s.from[n-1]
	}
	n := s.from[len(s.from)-1]
	s.keys, s.meanings, s.letters = make([]string, n), make([]meaning, n), make([]uint32, n)
	next := s.from
	for key, m := range b.byName {
		if offered(key, m) {
			i := next[len(key)]
			next[len(key)]++
			s.keys[i], s.meanings[i], s.letters[i] = key, m, letters(key)
		}
	}
}

func letters(text string) (set uint32) {
	for i := range len(text) {
		if c := text[i]; 'a' <= c && c <= 'z' {
			set |= 1 << (c - 'a')
		}
	}
	return set
}

// display returns the name shown in a suggestion.
func (b *book) display(m meaning) string {
	switch {
	case m.substance >= 0:
		return b.substances[m.substance].name
	case m.brand >= 0:
		return b.brands[m.brand].name
	}
	return b.aliases[m.alias].name
}

// rank returns the rank of the most important class of a meaning.
func (b *book) rank(m meaning) int {
	best := len(classes)
	if m.substance >= 0 {
		return b.substances[m.substance].rank
	} else if m.brand >= 0 {
		for _, s := range b.brands[m.brand].set {
			best = min(best, b.substances[s].rank)
		}
		return best
	}
	for _, part := range b.aliases[m.alias].parts {
		best = min(best, b.substances[part.substance].rank)
	}
	return best
}

// near returns the names that differ by a letter or two from an unknown word,
// alone or joined with its neighbour.
func (r *reader) near() []string {
	type hit struct {
		distance, rank int
		name           string
	}
	var hits []hit
	search := func(word string) {
		allowed := 1
		switch {
		case len(word) < shortestSpelled || len(word) > longestSpelled:
			return
		case len(word) >= 8:
			allowed = 2
		}
		set := letters(word)
		all := &r.book.spelling
		from := all.from[max(len(word)-allowed, shortestSpelled)]
		for i, others := range all.letters[from:all.from[min(len(word)+allowed, longestSpelled)+1]] {
			if bits.OnesCount32(others^set) > 2*allowed {
				continue
			}
			key, m := all.keys[int(from)+i], all.meanings[int(from)+i]
			if d := distance(word, key, allowed); d <= allowed {
				hits = append(hits, hit{d, r.book.rank(m), r.book.display(m)})
			}
		}
	}
	for i, word := range r.m.unknown {
		if i == 4 {
			break
		}
		search(word)
		whole := string(r.text)
		if at := strings.Index(whole, word); at > 0 {
			search(whole[strings.LastIndexByte(whole[:at-1], ' ')+1 : at+len(word)])
		}
	}
	slices.SortFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.rank, y.rank), strings.Compare(x.name, y.name))
	})
	var names []string
	for _, h := range hits {
		if len(names) < 3 && !slices.Contains(names, h.name) {
			names = append(names, h.name)
		}
	}
	return names
}

// distance returns the number of letters that must be changed, added, removed
// or swapped with their neighbour, up to most (optimal string alignment).
func distance(a, b string, most int) int {
	var rows [3][32]int
	before, last, here := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		here[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, here[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			here[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, last, here = last, here, before
	}
	return last[len(b)]
}
