package dictionary

import (
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
)

// findProducts finds the products that a name may refer to, and the strengths
// given by them or by the words.
func (r *reader) findProducts() {
	m := r.m
	fixed := m.alias >= 0 && m.strength[0].measure != unknown
	if fixed {
		m.amounts = nil
		for i := range min(len(m.order), len(m.strength)) {
			m.amounts = append(m.amounts, m.strength[i])
		}
		if kind := r.book.aliases[m.alias].form; kind != "" {
			f := formOf(kind)
			m.typed = form{kind: f.kind, release: f.release, route: f.route}
		}
	}
	if m.typed.release == anyRelease && m.alias >= 0 && r.book.aliases[m.alias].form != "" {
		m.typed.release = formOf(r.book.aliases[m.alias].form).release
	}
	if m.alias >= 0 && !fixed && r.book.aliases[m.alias].form != "" {
		f := formOf(r.book.aliases[m.alias].form)
		m.typed.merge(form{kind: f.kind, route: f.route})
	}
	candidates := r.candidates()
	if len(m.amounts) == 0 {
		m.products = candidates
		return
	}
	m.products = r.withAmounts(candidates, m.amounts)
	if len(m.products) == 0 {
		if sure := slices.DeleteFunc(slices.Clone(m.amounts), func(a amount) bool { return a.measure == plain }); len(sure) > 0 && len(sure) < len(m.amounts) {
			m.amounts = sure
			m.products = r.withAmounts(candidates, sure)
		}
	}
	if len(m.products) > 0 {
		m.stated = true
		// "hydrocodone 10" usually refers to a combination: only its strength
		// is used.
		m.vague = m.brand < 0 && len(m.set) == 1 && m.typed == (form{})
		r.narrow()
		return
	}
	if !fixed {
		r.assign()
	}
	m.products = candidates // for the form and route that they share
}

// candidates returns the products of the brand, or the generic ones with the
// same ingredients, that match the form in the name.
func (r *reader) candidates() (list []int32) {
	b, m := r.book, r.m
	var from []int32
	if m.brand >= 0 {
		from = b.brands[m.brand].products
	} else {
		from = b.withIn[m.set[0]]
		for _, s := range m.set[1:] {
			if len(b.withIn[s]) < len(from) {
				from = b.withIn[s]
			}
		}
	}
	for _, i := range from {
		p := &b.products[i]
		if m.typed.fits(b.forms[p.form]) && b.hasSet(p, m.set) {
			list = append(list, i)
		}
	}
	return list
}

// hasSet reports whether a product has exactly these substances.
func (b *book) hasSet(p *product, set []int32) bool {
	parts := b.parts[p.first:p.past]
	if len(parts) < len(set) {
		return false
	}
	for i := range parts {
		if !slices.Contains(set, parts[i].substance) {
			return false
		}
	}
	if len(parts) == len(set) && len(set) == 1 {
		return true
	}
	for _, s := range set {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.substance == s }) {
			return false
		}
	}
	return true
}

func (r *reader) withAmounts(candidates []int32, amounts []amount) (list []int32) {
	for _, i := range candidates {
		if r.book.hasAmounts(&r.book.products[i], amounts) {
			list = append(list, i)
		}
	}
	return list
}

// hasAmounts reports whether a product has a component for each amount. A
// single number for a combination with an opioid refers to the opioid.
func (b *book) hasAmounts(p *product, amounts []amount) bool {
	parts := b.parts[p.first:p.past]
	if len(amounts) > len(parts) || len(amounts) == 0 {
		return false
	}
	if len(amounts) == 1 && len(parts) > 1 {
		best := len(classes)
		for _, part := range parts {
			best = min(best, b.substances[part.substance].rank)
		}
		leading := best >= 0 && best < len(classes) && (classes[best] == drug.Opioid || classes[best] == drug.Benzodiazepine)
		for _, part := range parts {
			if (!leading || b.substances[part.substance].rank == best) && amounts[0].fits(part.amount) {
				return true
			}
		}
		return false
	}
	return assignable(amounts, parts)
}

// mostParts is the maximum number of components compared with amounts.
const mostParts = 24

// assignable reports whether each amount can be assigned a component of its
// own (bipartite matching by augmenting paths).
func assignable(amounts []amount, parts []part) bool {
	var holder [mostParts]int8 // index of the amount assigned to a component, from 1
	parts = parts[:min(len(parts), mostParts)]
	for i := range amounts {
		var seen [mostParts]bool
		if !settle(amounts, parts, i, &holder, &seen) {
			return false
		}
	}
	return true
}

func settle(amounts []amount, parts []part, i int, holder *[mostParts]int8, seen *[mostParts]bool) bool {
	for j := range parts {
		if seen[j] || !amounts[i].fits(parts[j].amount) {
			continue
		}
		seen[j] = true
		if holder[j] == 0 || settle(amounts, parts, int(holder[j])-1, holder, seen) {
			holder[j] = int8(i + 1)
			return true
		}
	}
	return false
}

// narrow keeps the single product that is meant, if the matching products can
// be told apart.
func (r *reader) narrow() {
	m := r.m
	if len(m.products) < 2 {
		return
	}
	for _, i := range m.products {
		if folded := fold(r.book.products[i].name); folded == string(r.text) {
			m.products = []int32{i}
			return
		}
	}
	current, n := int32(0), 0
	for _, i := range m.products {
		if r.book.products[i].kind < 'a' {
			current = i
			n++
		}
	}
	if n == 1 && m.typed != (form{}) {
		m.products = []int32{current}
	}
}

// largePartners are partners of opioids that are never present in a smaller
// amount than the opioid.
var largePartners = []string{"acetaminophen", "aspirin", "ibuprofen"}

// assign gives each ingredient the number at its position, if no product is
// known. Next to acetaminophen, aspirin or ibuprofen, the smaller number is
// that of the opioid, regardless of the order. Other analgesics can have
// smaller amounts than an opioid (tramadol 75 mg, dexketoprofen 25 mg), so
// numbers need units to be assigned in the order of the names.
func (r *reader) assign() {
	b, m := r.book, r.m
	n := len(m.order)
	if len(m.amounts) != n || n > 2 || m.brand >= 0 {
		return
	}
	typed := m.amounts
	if n == 1 {
		if typed[0].measure != plain {
			m.strength[0] = typed[0]
			if m.typed.kind == patch && typed[0].per == perUnit && typed[0].value < 1 {
				m.strength[0].per = perHour
			}
		}
		return
	}
	rank := func(i int) drug.Class { return b.substances[m.order[i]].class }
	partner := func(c drug.Class) bool { return c == drug.NSAID || c == drug.OtherAnalgesic }
	for i := range 2 {
		if rank(i) == drug.Opioid && partner(rank(1-i)) {
			inOrder := typed[i].value <= typed[1-i].value
			if !inOrder && !slices.Contains(largePartners, b.substances[m.order[1-i]].name) {
				break
			}
			low, high := typed[0], typed[1]
			if low.measure == plain && high.measure == plain {
				low.measure, high.measure = milligrams, milligrams
			}
			if low.measure != milligrams || high.measure != milligrams || low.per != high.per {
				return
			}
			if low.value > high.value {
				low, high = high, low
			}
			m.strength[i], m.strength[1-i] = low, high
			return
		}
	}
	if typed[0].measure != plain && typed[1].measure != plain {
		m.strength[0], m.strength[1] = typed[0], typed[1]
	}
}
