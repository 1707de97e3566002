package drug

import (
	"slices"
	"strings"
	"unicode"
)

var byRxNorm, byName = index()

func index() (byRxNorm, byName map[string]*Ingredient) {
	byRxNorm, byName = map[string]*Ingredient{}, map[string]*Ingredient{}
	for i := range ingredients {
		in := &ingredients[i]
		if in.RxNorm != "" {
			byRxNorm[in.RxNorm] = in
		}
		byName[in.Name] = in
		for _, name := range in.Also {
			byName[name] = in
		}
	}
	return byRxNorm, byName
}

// Found is what is known about a medicine from its name and code.
type Found struct {
	named []*Ingredient // in the order of the name, each once
	coded *Ingredient
}

// Find looks a medicine up by its RxNorm ingredient code, which may be empty
// or that of a product, and by the words of its name. Only whole words count:
// hydromorphone is no morphine, dihydrocodeine no codeine.
func Find(name, rxNorm string) Found {
	f := Found{coded: byRxNorm[rxNorm]}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if in := byName[word]; in != nil && !slices.Contains(f.named, in) {
			f.named = append(f.named, in)
		}
	}
	return f
}

// Of is what is known of a medicine whose ingredients were found elsewhere.
func Of(ingredients ...*Ingredient) Found { return Found{named: ingredients} }

// Contradiction reports whether the code is that of another medicine than the
// name. A product name that is not known contradicts nothing.
func (f Found) Contradiction() bool {
	return f.coded != nil && len(f.named) > 0 && !slices.Contains(f.named, f.coded)
}

// Class returns the class of the medicine; of a combination, the one that
// matters most. It is not ok for a medicine that is not known.
func (f Found) Class() (_ Class, ok bool) {
	best := len(classes)
	for in := range f.all {
		best = min(best, slices.Index(classes, in.Class))
	}
	if best == len(classes) {
		return "", false
	}
	return classes[best], true
}

// Ingredients are the names of what is in the medicine as far as is known.
func (f Found) Ingredients() []string {
	var names []string
	for in := range f.all {
		names = append(names, in.Name)
	}
	return names
}

// all gives every ingredient once.
func (f Found) all(yield func(*Ingredient) bool) {
	for _, in := range f.named {
		if !yield(in) {
			return
		}
	}
	if f.coded != nil && !slices.Contains(f.named, f.coded) {
		yield(f.coded)
	}
}

// opioids are the opioid components.
func (f Found) opioids() []*Ingredient {
	var list []*Ingredient
	for in := range f.all {
		if in.Class == Opioid {
			list = append(list, in)
		}
	}
	return list
}
