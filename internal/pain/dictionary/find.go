package dictionary

import (
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
)

// Query is what is written of a medicine. Any of it may be empty.
type Query struct {
	Name   string
	RxNorm string // of an ingredient, a brand, a product or a pack
	NDC    string // of a package
	// Alias is the RxNorm code that the organisation keeps for the name. It
	// counts where the name leaves something open.
	Alias string
}

// Ingredient is an active substance of a medicine.
type Ingredient struct {
	Name     string
	RxNorm   string // "" when the code is not known
	Class    drug.Class
	Strength Strength // of one unit of the product
}

// Product is one that RxNorm has a code for.
type Product struct {
	RxNorm string
	Name   string
	// Current is false for one that is not in the release any more.
	Current bool
}

// Medicine is what was understood.
type Medicine struct {
	// Understood is false for a medicine that is unclassified: it may be an
	// opioid. Ingredients then are what was understood in part.
	Understood  bool
	Class       drug.Class // of the combination; "" unless Understood
	Basis       drug.Basis
	Ingredients []Ingredient
	Product     Product // when exactly one is meant
	Brand       string
	Form        string       // dose form of RxNorm
	Route       string       // that the form implies; see Route
	Release     drug.Release // of what is taken by mouth
	Unit        string       // that a dose is counted in: tablet, mL, patch
	// Unknown are words that mean nothing here. An opioid stays one, with a
	// partner that nobody knows; anything else is not understood with them.
	Unknown     []string
	Suggestions []string // at most three; never applied
	// Contradiction: the code is that of another medicine than the name.
	Contradiction bool
	// Several: there is more than one medicine in it, such as an opioid and a
	// benzodiazepine. Nobody can tell which of them the rest of a record is
	// about, so it is not understood.
	Several bool
	// StrengthDiffers: the name has another strength than the code.
	StrengthDiffers bool
	// Alias is that of the query if it counted, else "".
	Alias string

	query  Query
	reason reason
	word   string // that reason is about
	byCode bool
	noCode bool
	noNDC  bool
	drugs  []*drug.Ingredient
}

// reason says why a name is not understood.
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

// longestName is how many bytes of a name are looked at: nobody writes more.
const longestName = 400

// Find looks a medicine up: by its RxNorm code, by its package code, and by
// its name, which also says what the code leaves open. It is safe for
// concurrent use.
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
		case len(coded.products) != 1: // an ingredient or brand: the package says more
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

// match is what a code or a name was understood as.
type match struct {
	set      []int32 // substances, sorted, each once
	order    []int32 // the same, as they are written
	brand    int32   // or -1
	alias    int32   // or -1
	products []int32 // those that are meant, when they are known
	stated   bool    // a strength was written, and those products have it
	vague    bool    // it does not say which product is meant
	amounts  []amount
	typed    form
	unknown  []string
	reason   reason
	word     string
	readings []string
	near     []string
	strength [8]amount // of order, when no product says
	byAlias  bool      // an organisation's alias says so
}

func (m *match) found() bool { return len(m.set) > 0 }

func (m *match) add(substance int32) {
	if i, found := slices.BinarySearch(m.set, substance); !found {
		m.set = slices.Insert(m.set, i, substance)
		m.order = append(m.order, substance)
	}
}

// join adds what another one has.
func (m *match) join(other *match) {
	for _, s := range other.order {
		m.add(s)
	}
	m.products, m.stated = nil, false
	m.strength = [8]amount{}
}

// agree reports whether one set is part of the other, and an opioid of the
// code is in the name.
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

// answer puts together what the code and the name say.
func (b *book) answer(coded, named *match, basis drug.Basis) Medicine {
	m := Medicine{Basis: basis}
	chosen := named
	switch {
	case coded.found():
		chosen, m.byCode = coded, true
		if named.reason == understood && named.found() {
			// A code of the ingredient alone is often written for a combination;
			// a name without the opioid of its code is another medicine.
			m.Contradiction = !b.agree(coded.set, named.set) || b.hasOpioid(coded.set) && !b.hasOpioid(named.set)
			m.StrengthDiffers = !m.Contradiction && b.strengthDiffers(coded, named)
		}
		switch {
		case m.Contradiction:
			coded.join(named)
		case named.reason == understood && len(named.set) > len(coded.set), named.reason == understood && named.found() && coded.products == nil:
			chosen = named // it says more
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

// countedApart are the classes whose overlap on one day is a flag. No product
// has two of them in it.
var countedApart = []drug.Class{drug.Opioid, drug.Benzodiazepine, drug.Gabapentinoid}

// apart reports whether there are substances of more than one of these classes
// in a set, or one beside a word that is spelled like another.
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

// strengthsOfCode gives ingredients the strengths that the product of the code
// has, where the name says more about what is in it: the code comes first.
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

// strengthDiffers reports whether the name writes a strength that the products
// of the code do not have.
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

// describe fills in the ingredients with their strengths, and the product.
func (b *book) describe(m *Medicine, chosen *match) {
	if !chosen.found() {
		return
	}
	m.Ingredients = make([]Ingredient, 0, len(chosen.order))
	m.drugs = make([]*drug.Ingredient, 0, len(chosen.order))
	for i, s := range chosen.order {
		sub := &b.substances[s]
		in := Ingredient{Name: sub.name, RxNorm: sub.code, Class: sub.class}
		if chosen.stated {
			in.Strength = b.commonAmount(chosen.products, s).strength()
		} else if i < len(chosen.strength) {
			in.Strength = chosen.strength[i].strength()
		}
		m.Ingredients = append(m.Ingredients, in)
		if sub.drug != nil {
			m.drugs = append(m.drugs, sub.drug)
		}
	}
	if chosen.brand >= 0 {
		m.Brand = b.brands[chosen.brand].name
	} else if chosen.alias >= 0 && b.aliases[chosen.alias].brand {
		m.Brand = b.aliases[chosen.alias].name
	}
	b.describeForm(m, chosen)
	m.Release = b.releaseOf(m, chosen)
	if chosen.vague {
		m.Form, m.Unit = "", ""
	}
	if chosen.stated && !chosen.vague && len(chosen.products) == 1 {
		p := &b.products[chosen.products[0]]
		m.Product = Product{strconv.FormatUint(uint64(p.code), 10), p.name, p.kind < 'a'}
		if p.brand >= 0 {
			m.Brand = b.brands[p.brand].name
		}
	}
}

// describeForm gives the form and route on which all products agree, or else
// what is written.
func (b *book) describeForm(m *Medicine, chosen *match) {
	var f form
	if len(chosen.products) > 0 {
		first := b.products[chosen.products[0]].form
		f = b.forms[first]
		m.Form, m.Route = b.formNames[first], f.route
		for _, i := range chosen.products[1:] {
			other := b.products[i].form
			if other != first {
				m.Form = ""
			}
			if b.forms[other].route != m.Route {
				m.Route = ""
			}
			if b.forms[other].kind != f.kind {
				f.kind = anyKind
			}
		}
	} else if chosen.alias >= 0 && b.aliases[chosen.alias].form != "" {
		m.Form = b.aliases[chosen.alias].form
		f = formOf(m.Form)
		m.Route = f.route
	} else {
		f = chosen.typed
		m.Route = f.route
	}
	p := perUnit
	for _, in := range m.Ingredients {
		switch in.Strength.Unit {
		case "mg/mL", "unit/mL", "meq/mL":
			p = perMillilitre
		case "mg/actuation":
			p = perActuation
		}
	}
	m.Unit = f.unit(p)
}

// commonAmount is how much of a substance all the products have; none when
// they differ, or when the medicines of a pack do.
func (b *book) commonAmount(products []int32, substance int32) (common amount) {
	for n, i := range products {
		p := &b.products[i]
		var total amount
		item := int16(-1)
		var inItem amount
		for _, part := range b.parts[p.first:p.past] {
			if part.substance != substance {
				continue
			}
			if part.item != item {
				if item >= 0 {
					if total.measure != unknown && total != inItem {
						return amount{}
					}
					total = inItem
				}
				item, inItem = part.item, part.amount
			} else if part.amount.measure == inItem.measure && part.amount.per == inItem.per {
				inItem.value = tidy(inItem.value + part.amount.value) // oxycodone as two salts
			} else {
				return amount{}
			}
		}
		if total.measure != unknown && total != inItem {
			return amount{}
		}
		if n > 0 && (inItem.measure != common.measure || inItem.per != common.per || !same(inItem.value, common.value)) {
			return amount{}
		}
		common = inItem
	}
	return common
}

// Found is the medicine as package drug reckons with it: its ingredients of a
// class beside other, which has no part in doses.
func (m *Medicine) Found() drug.Found { return drug.Of(m.drugs...) }
