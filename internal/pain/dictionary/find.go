package dictionary

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Query describes a medicine as written. Any field may be empty.
type Query struct {
	Name   string
	RxNorm string // of an ingredient, brand, product or pack
	NDC    string // of a package
	// Alias is the RxNorm code of the organisation's alias for the name. It
	// applies if the name is not complete.
	Alias string
}

// Ingredient is an active substance of a medicine.
type Ingredient struct {
	Name     string
	RxNorm   string // "" if unknown
	Class    drug.Class
	Strength Strength // per unit of the product
}

// Product is a product with an RxNorm code.
type Product struct {
	RxNorm string
	Name   string
	// Current is false if the product is no longer in the release.
	Current bool
}

// Medicine is the result of [Find].
type Medicine struct {
	// Understood is false for an unclassified medicine, which may be an opioid.
	// Ingredients then holds those that were recognised.
	Understood  bool
	Class       drug.Class // of the combination; "" if not Understood
	Basis       drug.Basis
	Ingredients []Ingredient
	Product     Product // set if exactly one product matches
	Brand       string
	Form        string       // RxNorm dose form
	Route       string       // implied by the form; see Route
	Release     drug.Release // of oral medicines
	Unit        string       // unit of a dose: tablet, mL, patch
	// Unknown are the words that were not recognised. With them, an opioid is
	// still classified as an opioid, with an unknown partner; any other
	// medicine is not understood.
	Unknown     []string
	Suggestions []string // at most three; never applied
	// Contradiction is set if code and name refer to different medicines.
	Contradiction bool
	// Several is set if the text names more than one medicine, such as an
	// opioid and a benzodiazepine. It is not understood then, because it is
	// unclear which of them the rest of a record refers to.
	Several bool
	// StrengthDiffers is set if the strengths in name and code differ.
	StrengthDiffers bool
	// Alias is the alias of the query if it was applied, otherwise "".
	Alias string

	query  Query
	reason reason
	word   string // the word concerned
	byCode bool
	noCode bool
	noNDC  bool
	drugs  []*drug.Ingredient
}

// reason is why a name is not understood.
type reason uint8

const (
	understood reason = iota
	nothingWritten
	tooLong
	denied
	alternatives
	ambiguous
	commonWord
	unknownWord
	noIngredient
	noClass
	several
)

// longestName limits how many bytes of a name are read.
const longestName = 400

// Find looks up a medicine by its RxNorm code, its package code and its name,
// which also supplies what the code leaves open. It is safe for concurrent
// use.
func Find(q Query) Medicine { return loaded().find(q) }

func (b *book) find(q Query) Medicine {
	var coded match
	basis, noCode, noNDC := drug.ByNone, false, false
	if code := strings.TrimSpace(q.RxNorm); code != "" {
		if coded = b.byCode(code); coded.found() {
			basis = drug.ByRxNorm
		} else {
			noCode = true
		}
	}
	var conflict bool
	if strings.TrimSpace(q.NDC) != "" {
		packed := b.byNDC(q.NDC)
		switch {
		case !packed.found():
			noNDC = true
		case basis == drug.ByNone:
			coded, basis = packed, drug.ByNDC
		case !b.agree(coded.set, packed.set):
			conflict = true
			coded.join(&packed)
		case len(coded.products) != 1: // an ingredient or brand: the package code is more specific
			coded = packed
		}
	}
	var named match
	b.read(q.Name, &named)
	alias := ""
	if q.Alias != "" {
		if meant, ok := b.aliased(&named, q.Alias); ok {
			named, alias = meant, q.Alias
		}
	}
	m := b.answer(&coded, &named, basis)
	m.Alias = alias
	m.query, m.noCode, m.noNDC = q, noCode, noNDC
	m.Contradiction = m.Contradiction || conflict
	return m
}

// match is the meaning of a code or name.
type match struct {
	set      []int32 // substances, sorted and distinct
	order    []int32 // the same, in the order written
	brand    int32   // or -1
	alias    int32   // or -1
	products []int32 // matching products, if known
	stated   bool    // a strength was written, and these products have it
	vague    bool    // it does not identify the product
	amounts  []amount
	typed    form
	unknown  []string
	reason   reason
	word     string
	readings []string
	near     []string
	strength [8]amount // of order, if no product has it
	byAlias  bool      // based on an organisation's alias
}

func (m *match) found() bool { return len(m.set) > 0 }

func (m *match) add(substance int32) {
	if i, found := slices.BinarySearch(m.set, substance); !found {
		m.set = slices.Insert(m.set, i, substance)
		m.order = append(m.order, substance)
	}
}

// join adds the content of another match.
func (m *match) join(other *match) {
	for _, s := range other.order {
		m.add(s)
	}
	m.products, m.stated = nil, false
	m.strength = [8]amount{}
}

// agree reports whether one set is a subset of the other, and an opioid of the
// code is also in the name.
func (b *book) agree(x, y []int32) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	for _, s := range x {
		if _, found := slices.BinarySearch(y, s); !found {
			return false
		}
	}
	return true
}

func (b *book) hasOpioid(set []int32) bool {
	return slices.ContainsFunc(set, func(s int32) bool { return b.substances[s].class == drug.Opioid })
}

// answer combines the meanings of code and name.
func (b *book) answer(coded, named *match, basis drug.Basis) Medicine {
	m := Medicine{Basis: basis}
	chosen := named
	switch {
	case coded.found():
		chosen, m.byCode = coded, true
		if named.reason == understood && named.found() {
			// The code of an ingredient is often written for a combination, but
			// a name without the opioid of its code is another medicine.
			m.Contradiction = !b.agree(coded.set, named.set) || b.hasOpioid(coded.set) && !b.hasOpioid(named.set)
			m.StrengthDiffers = !m.Contradiction && b.strengthDiffers(coded, named)
		}
		switch {
		case m.Contradiction:
			coded.join(named)
		case named.reason == understood && len(named.set) > len(coded.set), named.reason == understood && named.found() && coded.products == nil:
			chosen = named // it is more specific
		case named.found() && b.hasOpioid(named.set) && !b.hasOpioid(coded.set):
			coded.join(named)
		}
	case named.found() && named.reason == understood:
		m.Basis = drug.ByName
		if named.byAlias {
			m.Basis = drug.ByAlias
		} else if named.brand >= 0 || named.alias >= 0 && b.aliases[named.alias].brand {
			m.Basis = drug.ByBrand
		}
	default:
		m.reason, m.word = named.reason, named.word
	}
	if !coded.found() {
		m.Unknown = named.unknown
		m.Suggestions = slices.Concat(named.readings, named.near)
		if len(m.Suggestions) > 3 {
			m.Suggestions = m.Suggestions[:3]
		}
	}
	b.describe(&m, chosen)
	if chosen == named && coded.found() {
		b.strengthsOfCode(&m, coded, named)
	}
	best := len(classes)
	for _, s := range chosen.set {
		if b.substances[s].rank < 0 {
			m.reason, m.word = noClass, b.substances[s].name
			continue
		}
		best = min(best, b.substances[s].rank)
	}
	if m.reason != denied && b.apart(chosen.set, chosen.near) {
		m.reason, m.Several = several, true
		if len(m.Suggestions) == 0 {
			for _, in := range m.Ingredients {
				m.Suggestions = append(m.Suggestions, in.Name)
			}
		}
	}
	m.Understood = best < len(classes) && (m.reason == understood || m.reason == noClass && classes[best] == drug.Opioid)
	if m.Understood {
		m.Class = classes[best]
	} else {
		m.Basis = drug.ByNone
	}
	return m
}

// countedApart are the classes whose overlap on one day raises a flag. No
// product contains two of them.
var countedApart = []drug.Class{drug.Opioid, drug.Benzodiazepine, drug.Gabapentinoid}

// apart reports whether a set contains substances of more than one of these
// classes, or one next to a word that is spelled similarly to another.
func (b *book) apart(set []int32, near []string) bool {
	var has [3]bool
	note := func(set []int32) {
		for _, s := range set {
			if i := slices.Index(countedApart, b.substances[s].class); i >= 0 {
				has[i] = true
			}
		}
	}
	note(set)
	if has == [len(has)]bool{} {
		return false
	}
	for _, name := range near {
		var like match
		b.read(name, &like)
		note(like.set)
	}
	return has[0] && has[1] || has[0] && has[2] || has[1] && has[2]
}

// strengthsOfCode sets the strengths of ingredients to those of the product
// given by the code, which takes precedence, if the name has more detail about
// the ingredients.
func (b *book) strengthsOfCode(m *Medicine, coded, named *match) {
	if len(coded.products) != 1 {
		return
	}
	for i, s := range named.order {
		in := &m.Ingredients[i]
		if of := b.commonAmount(coded.products, s).strength(); of.Unit != "" && of != in.Strength {
			m.StrengthDiffers = m.StrengthDiffers || in.Strength.Unit != ""
			in.Strength, m.Product = of, Product{}
		}
	}
}

// strengthDiffers reports whether the name has a strength that no product of
// the code has.
func (b *book) strengthDiffers(coded, named *match) bool {
	if len(coded.products) != 1 || len(named.amounts) == 0 {
		return false
	}
	p := &b.products[coded.products[0]]
	withUnits := named.amounts[:0:0]
	for _, a := range named.amounts {
		if a.measure != plain {
			withUnits = append(withUnits, a)
		}
	}
	return len(withUnits) > 0 && !b.hasAmounts(p, withUnits)
}
