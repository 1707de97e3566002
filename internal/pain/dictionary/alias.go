package dictionary

import (
	"fmt"
	"slices"
	"strings"
)

// An alias is an organisation's name for a medicine, such as "oxyIR house
// stock" for an RxNorm code. It adds what the dictionary's own names do not
// cover, and never turns a known medicine into another.

// Fold returns the form in which names are compared: lower-case words
// separated by one blank, without marks, apostrophes and punctuation. It is ""
// for a name without letters and digits.
func Fold(name string) string { return fold(name) }

// complete reports whether the name was understood completely.
func (m *match) complete() bool { return m.found() && m.reason == understood && len(m.unknown) == 0 }

// aliased returns the meaning of a name according to its alias. It is not ok
// if the alias does not apply, because the name is complete or contradicts it.
func (b *book) aliased(named *match, code string) (_ match, ok bool) {
	meant := b.byCode(strings.TrimSpace(code))
	if !meant.found() || named.complete() || b.against(named, &meant) != "" {
		return match{}, false
	}
	if len(meant.products) != 1 && slices.Equal(meant.set, named.set) {
		// The alias only shows that the other words have no meaning: brand,
		// strength and form in the name still count.
		meant = *named
		meant.reason, meant.word, meant.unknown, meant.readings, meant.near = understood, "", nil, nil, nil
	}
	meant.byAlias = true
	return meant, true
}

// against explains what in a partly understood name contradicts the medicine
// of a code, or returns "".
func (b *book) against(named, meant *match) string {
	switch {
	case named.reason == denied && named.found(): // "no" alone may precede a number
		return fmt.Sprintf("has the word %q, which means that the medicine is not taken.", named.word)
	case slices.ContainsFunc(named.set, func(s int32) bool { return !slices.Contains(meant.set, s) }):
		return "says " + b.list(named.order) + ", but rxnorm_code is that of " + b.list(meant.order) + "."
	case named.reason == ambiguous && !slices.ContainsFunc(named.readings, func(reading string) bool {
		var read match
		b.read(reading, &read)
		return read.found() && !slices.ContainsFunc(read.set, func(s int32) bool { return !slices.Contains(meant.set, s) })
	}):
		return "stands for " + strings.Join(named.readings, " or ") + ", but rxnorm_code is that of " + b.list(meant.order) + "."
	case b.strengthDiffers(meant, named):
		return "has a different strength from the product of rxnorm_code."
	}
	return ""
}

// list joins the names of substances.
func (b *book) list(substances []int32) string {
	names := make([]string, len(substances))
	for i, s := range substances {
		names[i] = b.substances[s].name
	}
	return strings.Join(names, " and ")
}

// AliasProblem explains why a name cannot be an alias for an RxNorm code: the
// field, name or rxnorm_code, and the rest of a sentence about it. Both are ""
// if it can.
func AliasProblem(name, code string) (field, problem string) {
	b := loaded()
	if fold(name) == "" {
		return "name", "must have a letter or a digit."
	}
	meant := b.find(Query{RxNorm: code})
	if len(meant.Ingredients) == 0 {
		return "rxnorm_code", "is not in the dictionary (RxNorm release of " + Release + ")."
	}
	if !meant.Understood {
		return "rxnorm_code", "is the code of a medicine that has no class yet."
	}
	var named match
	b.read(name, &named)
	if named.complete() {
		known := b.find(Query{Name: name})
		if sameContents(known.Ingredients, meant.Ingredients) {
			return "", ""
		}
		return "name", "is already recognised as " + known.contents() + "; an alias cannot change it to " + meant.contents() + "."
	}
	coded := b.byCode(strings.TrimSpace(code))
	if problem = b.against(&named, &coded); problem != "" {
		return "name", problem
	}
	if !b.hasOpioid(coded.set) {
		for _, near := range named.near {
			var like match
			if b.read(near, &like); b.hasOpioid(like.set) {
				return "name", "is spelled like " + near + ", an opioid, but rxnorm_code is that of " + meant.contents() + "."
			}
		}
	}
	return "", ""
}

// sameContents reports whether two medicines have the same ingredients in the
// same strengths, in any order.
func sameContents(a, b []Ingredient) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(in Ingredient) bool { return !slices.Contains(b, in) })
}

// contents lists the ingredients with their strengths, if known.
func (m *Medicine) contents() string {
	names := make([]string, len(m.Ingredients))
	for i, in := range m.Ingredients {
		names[i] = in.Name
		if in.Strength.Unit != "" {
			names[i] = fmt.Sprintf("%s %v %s", in.Name, in.Strength.Value, in.Strength.Unit)
		}
	}
	return strings.Join(names, " and ")
}
