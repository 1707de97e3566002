package drug

// Found is the ingredients of a medicine, as far as they are known.
type Found struct{ ingredients []*Ingredient }

// Of is a medicine of some ingredients.
func Of(ingredients ...*Ingredient) Found { return Found{ingredients} }

// opioids are the opioid components.
func (f Found) opioids() (list []*Ingredient) {
	for _, in := range f.ingredients {
		if in.Class == Opioid {
			list = append(list, in)
		}
	}
	return list
}
