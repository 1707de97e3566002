package dictionary

import (
	"slices"
	"strconv"
	"strings"
)

// reader parses the words of a name.
type reader struct {
	book   *book
	text   []byte
	tokens []token
	m      *match
	// Positions of the names, for salts that follow them.
	lastName int
	// The previous number is joined to this token, as in 5-325.
	chain   int // start of the joined amounts, or -1
	counts  bool
	common  int32 // a brand that is also plain English, or -1
	unclear int32 // an ambiguous alias, or -1
	mixed   bool  // more than one brand
}

// read parses a name.
func (b *book) read(name string, m *match) {
	m.brand, m.alias = -1, -1
	if strings.TrimSpace(name) == "" {
		m.reason = nothingWritten
		return
	}
	if len(name) > longestName {
		m.reason = tooLong
		return
	}
	var text [160]byte
	var tokens [32]token
	r := reader{book: b, m: m, lastName: -2, chain: -1, common: -1, unclear: -1}
	r.text, r.tokens = scan(name, text[:0], tokens[:0])
	for i := 0; i < len(r.tokens); {
		i = r.next(i)
	}
	r.judge()
}

func (r *reader) word(i int) []byte { return r.text[r.tokens[i].begin:r.tokens[i].end] }

// next parses what begins at token i and returns the index of the token after
// it.
func (r *reader) next(i int) int {
	word := r.word(i)
	entry, inLexicon := lexicon[string(word)]
	meaning, n := r.nameAt(i)
	if n == 1 && inLexicon && (entry.role != salt || r.lastName == i-1 && r.tokens[i].sign != '/' && r.tokens[i].sign != '+') {
		n = 0 // diclofenac potassium
	}
	if n == 0 && !inLexicon || n == 1 && meaning.alias >= 0 && r.book.aliases[meaning.alias].readings != nil {
		if joined, ok := r.joined(i); ok { // oxy contin
			meaning, n = joined, 2
		}
	}
	switch {
	case n > 0:
		r.take(meaning, i, n)
		r.lastName = i + n - 1
		r.counts, r.chain = false, -1
		return i + n
	case isDigit(rune(word[0])):
		return r.number(i)
	case len(word) == 1 && word[0] == 'd' && i+1 < len(r.tokens) && r.tokens[i+1].sign == '/' && r.word(i + 1)[0] == 'c': // d/c
		r.shape(lexicon["discontinued"], i)
		return i + 2
	case inLexicon:
		r.shape(entry, i)
		return i + 1
	case len(word) > 1 && (word[0] == 'q' || word[0] == 'x') && isDigit(rune(word[1])): // q4h, x30
		return i + 1
	}
	if string(word) == "plus" && i+1 < len(r.tokens) {
		if _, n := r.nameAt(i + 1); n > 0 { // ibuprofen plus codeine
			return i + 1
		}
	}
	r.m.unknown = append(r.m.unknown, string(word))
	return i + 1
}

// nameAt returns the longest name that begins at a token, and its number of
// words.
func (r *reader) nameAt(i int) (meaning, int) {
	first := r.tokens[i]
	longest := int(r.book.longest[string(r.text[first.begin:first.end])])
	for n := min(max(longest, 1), len(r.tokens)-i); n > 0; n-- {
		key := r.text[first.begin:r.tokens[i+n-1].end]
		if m, ok := r.book.byName[string(key)]; ok {
			return m, n
		}
	}
	return meaning{-1, -1, -1}, 0
}

// joined returns the name formed by two words written as one.
func (r *reader) joined(i int) (meaning, bool) {
	if i+1 >= len(r.tokens) || r.tokens[i+1].sign == '/' || r.tokens[i+1].sign == '+' {
		return meaning{}, false
	}
	var both [40]byte
	key := append(append(both[:0], r.word(i)...), r.word(i+1)...)
	m, ok := r.book.byName[string(key)]
	return m, ok && len(key) >= 4 && (m.alias < 0 || r.book.aliases[m.alias].readings == nil)
}

// take adds the meaning of a name.
func (r *reader) take(m meaning, i, n int) {
	switch {
	case m.substance >= 0:
		r.m.add(m.substance)
	case m.brand >= 0:
		brand := &r.book.brands[m.brand]
		if brand.common {
			r.common = m.brand
			return
		}
		r.takeBrand(m.brand)
	default:
		a := &r.book.aliases[m.alias]
		if a.readings != nil {
			r.unclear = m.alias
			r.m.word = string(r.text[r.tokens[i].begin:r.tokens[i+n-1].end])
			return
		}
		if a.brand {
			r.mixed = r.mixed || r.m.alias >= 0 || r.m.brand >= 0
			r.m.alias = m.alias
		} else if a.parts[0].amount.measure != unknown && r.m.alias < 0 {
			r.m.alias = m.alias
		}
		for _, part := range a.parts {
			before := len(r.m.order)
			r.m.add(part.substance)
			if len(r.m.order) > before && before < len(r.m.strength) {
				r.m.strength[before] = part.amount
			}
		}
	}
}

func (r *reader) takeBrand(id int32) {
	r.mixed = r.mixed || r.m.alias >= 0 || r.m.brand >= 0 && !slices.Equal(r.book.brands[r.m.brand].set, r.book.brands[id].set)
	r.m.brand = id
	for _, s := range r.book.brands[id].set {
		r.m.add(s)
	}
}

// shape adds a word of the lexicon.
func (r *reader) shape(w word, i int) {
	r.counts = w.role == before
	switch w.role {
	case shape, counted:
		r.m.typed.merge(w.form)
	case deny, either:
		if r.m.reason == understood {
			r.m.reason, r.m.word = denied, string(r.word(i))
			if w.role == either {
				r.m.reason = alternatives
			}
		}
	}
}

// merge adds what another word says about the form.
func (f *form) merge(other form) {
	if f.kind == anyKind || other.kind == injection || other.kind != anyKind && (f.kind == film || f.kind == liquid || f.kind == topical) {
		if other.kind != anyKind {
			f.kind = other.kind
		}
	}
	if f.release == anyRelease {
		f.release = other.release
	}
	if f.route == "" || f.route == "oral" && other.route != "" {
		f.route = other.route
	}
	f.solves = f.solves || other.solves
}

// number parses a number with its unit: a strength, a count or a duration.
func (r *reader) number(i int) int {
	value, suffix, ok := cutNumber(r.word(i))
	if !ok {
		r.m.unknown = append(r.m.unknown, string(r.word(i)))
		return i + 1
	}
	j := i + 1
	isCount := r.tokens[i].sign == '#' || r.counts
	var unitWord word
	switch {
	case len(suffix) > 0:
		if unitWord, ok = lexicon[string(suffix)]; !ok || unitWord.role != unit && unitWord.role != counted {
			r.m.unknown = append(r.m.unknown, string(r.word(i)))
			return j
		}
	case j < len(r.tokens) && r.tokens[j].sign != '/' && r.tokens[j].sign != '+':
		if w := lexicon[string(r.word(j))]; w.role == unit {
			unitWord = w
			j++
		} else if w.role == counted && !(singular[string(r.word(j))] && (value >= 5 || r.chain >= 0)) {
			isCount = true
		}
	}
	a := amount{value, plain, perUnit}
	switch {
	case unitWord.role == counted:
		r.m.typed.merge(unitWord.form)
		isCount = true
	case unitWord.role == unit && unitWord.measure == otherMeasure: // a volume or a duration
		isCount = true
	case unitWord.role == unit:
		a = amount{value * unitWord.size, unitWord.measure, perUnit}
		if unitWord.measure != percent {
			j = r.per(j, &a)
		}
	case !isCount && r.isVolume(j): // 7.5/325 per 15 mL
		a.measure = milligrams
		j = r.per(j, &a)
	}
	scale := 1.0
	if value > 0 {
		scale = a.value / value
	}
	r.chained(a, scale, isCount, j)
	return j
}

// isVolume reports whether a token begins "per 15 mL" or "in 5 ml".
func (r *reader) isVolume(j int) bool {
	if j+1 >= len(r.tokens) || string(r.word(j)) != "per" && string(r.word(j)) != "in" {
		return false
	}
	a := amount{1, milligrams, perUnit}
	return r.per(j, &a) > j && a.per == perMillilitre
}

// singular are the words before which a number may still be a strength: Norco
// 10 tab.
var singular = map[string]bool{"tab": true, "tablet": true, "cap": true, "capsule": true, "patch": true, "film": true, "lozenge": true}

// chained adds an amount; scale is the factor by which its number was
// multiplied. Joined numbers, as in 7.5-325 mg/15 mL, have the unit of the
// last.
func (r *reader) chained(a amount, scale float64, isCount bool, j int) {
	if r.chain < 0 {
		r.chain = len(r.m.amounts)
	}
	first := r.chain
	more := j < len(r.tokens) && (r.tokens[j].sign == '-' || r.tokens[j].sign == '/') && isDigit(rune(r.word(j)[0]))
	if isCount {
		r.m.amounts = r.m.amounts[:first]
	} else {
		if a.measure != plain && a.measure != percent {
			for k := first; k < len(r.m.amounts); k++ {
				if before := &r.m.amounts[k]; before.measure == plain {
					*before = amount{before.value * scale, a.measure, a.per}
				}
			}
		}
		if len(r.m.amounts) < 12 {
			r.m.amounts = append(r.m.amounts, a)
		}
	}
	if !more {
		r.chain = -1
	}
}

// per parses what an amount refers to: mg/mL, mg/5 mL, mcg/h, mcg per hour, mg
// in 5 mL.
func (r *reader) per(j int, a *amount) int {
	k := j
	if k < len(r.tokens) && (string(r.word(k)) == "per" || string(r.word(k)) == "in" && k+1 < len(r.tokens) && isDigit(rune(r.word(k + 1)[0]))) {
		k++
	} else if k >= len(r.tokens) || r.tokens[k].sign != '/' {
		return j
	}
	if k >= len(r.tokens) {
		return j
	}
	of := 1.0
	name := r.word(k)
	if isDigit(rune(name[0])) {
		value, suffix, ok := cutNumber(name)
		if !ok || value == 0 {
			return j
		}
		of, name = value, suffix
		if len(name) == 0 {
			if k+1 >= len(r.tokens) {
				return j
			}
			k++
			name = r.word(k)
		}
		if w := lexicon[string(name)]; w.role != unit || w.measure != otherMeasure {
			return j // 5 mg/325 mg
		}
	}
	switch string(name) {
	case "ml", "mls", "cc", "milliliter", "millilitre":
		a.per = perMillilitre
	case "h", "hr", "hrs", "hour", "hours", "std":
		a.per = perHour
	case "actuat", "actuation", "spray", "puff", "dose":
		a.per = perActuation
	case "mg":
		a.per = perMilligram
	case "g", "gm", "gram":
		a.per, of = perMilligram, of*1000
	case "tab", "tablet", "cap", "capsule", "patch", "film", "lozenge", "unit":
	default:
		return j
	}
	if a.per != perUnit || of == 1 {
		a.value /= of
	}
	return k + 1
}

// cutNumber splits 15mg into 15 and mg.
func cutNumber(word []byte) (value float64, suffix []byte, ok bool) {
	n := 0
	for n < len(word) && (isDigit(rune(word[n])) || word[n] == '.') {
		n++
	}
	value, err := strconv.ParseFloat(string(word[:n]), 64)
	return value, word[n:], err == nil && n > 0
}

// judge decides what all words together mean.
func (r *reader) judge() {
	m := r.m
	if r.common >= 0 {
		if brand := &r.book.brands[r.common]; m.reason == understood && !m.found() && len(m.unknown) == 0 && r.fitsProduct(brand.products) {
			r.takeBrand(r.common)
		} else if m.found() && r.book.agree(brand.set, m.set) { // its ingredients are written as well
			r.takeBrand(r.common)
		} else if !m.found() {
			m.readings = append(m.readings, brand.name)
			if m.reason == understood {
				m.reason, m.word = commonWord, brand.name
			}
		} else {
			m.unknown = append(m.unknown, brand.name)
		}
	}
	if r.unclear >= 0 && !r.cleared() {
		m.readings = append(m.readings, r.book.aliases[r.unclear].readings...)
		if m.reason == understood && !r.book.hasOpioid(m.set) {
			m.reason = ambiguous
		} else {
			m.unknown = append(m.unknown, m.word)
		}
	}
	if len(m.unknown) > 0 {
		m.near = r.near()
		if m.reason == understood && !r.book.hasOpioid(m.set) {
			m.reason, m.word = unknownWord, m.unknown[0]
		}
	}
	if !m.found() && m.reason == understood {
		m.reason = noIngredient
	}
	if m.found() && !r.mixed {
		r.findProducts()
	}
}

// cleared reports whether the other words resolve an ambiguous name.
func (r *reader) cleared() bool {
	return slices.ContainsFunc(r.book.aliases[r.unclear].readings, func(reading string) bool {
		meaning, ok := r.book.byName[fold(reading)]
		return ok && meaning.substance >= 0 && slices.Contains(r.m.set, meaning.substance)
	})
}

func (r *reader) fitsProduct(products []int32) bool {
	return len(r.m.amounts) > 0 && slices.ContainsFunc(products, func(i int32) bool { return r.book.hasAmounts(&r.book.products[i], r.m.amounts) })
}
