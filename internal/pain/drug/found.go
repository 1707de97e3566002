package drug

// Found holds the known ingredients of a medicine.
type Found struct{ ingredients []*Ingredient }

// Of returns a medicine with these ingredients.
func Of(ingredients ...*Ingredient) Found { return Found{ingredients} }

// opioids returns the opioid ingredients.
func (f Found) opioids() (list []*Ingredient) {
	for _, in := range f.ingredients {
		if in.Class == Opioid {
			list = append(list, in)
		}
	}
	return list
}
