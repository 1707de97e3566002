package dictionary

import (
	"strconv"

	"anodyne.example/anodyne/internal/pain/drug"
)

// describe sets the ingredients with their strengths, and the product.
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

// describeForm sets the form and route that all products share, or else those
// in the name.
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

// commonAmount returns the amount of a substance that all products share, or
// the zero amount if they or the medicines of a pack differ.
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

// Found returns the ingredients for package drug. Ingredients of class other
// are omitted, because they do not affect doses.
func (m *Medicine) Found() drug.Found { return drug.Of(m.drugs...) }
