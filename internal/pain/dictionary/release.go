package dictionary

import "anodyne.example/anodyne/internal/pain/drug"

// releaseOf returns the release of an oral medicine, if all possible products
// or the words agree on it. If both releases exist, a product with a strength
// or form but neither a brand nor a word for extended release is
// immediate-release.
func (b *book) releaseOf(m *Medicine, chosen *match) drug.Release {
	if m.Route != "" && m.Route != "oral" {
		return drug.AnyRelease
	}
	if len(chosen.products) == 0 {
		if chosen.alias >= 0 && b.aliases[chosen.alias].form != "" {
			return formOf(b.aliases[chosen.alias].form).release.known()
		}
		return chosen.typed.release.known()
	}
	found := b.forms[b.products[chosen.products[0]].form].release.known()
	for _, i := range chosen.products[1:] {
		if b.forms[b.products[i].form].release.known() != found {
			said := len(chosen.amounts) > 0 || chosen.typed.kind == tablet || chosen.typed.kind == capsule
			if said && chosen.typed.release == anyRelease && chosen.brand < 0 && chosen.alias < 0 {
				return drug.Immediate
			}
			return drug.AnyRelease
		}
	}
	return found
}

func (r release) known() drug.Release {
	switch r {
	case immediate, delayed:
		return drug.Immediate
	case extended:
		return drug.Extended
	}
	return drug.AnyRelease
}
