package dictionary

import (
	"slices"
	"strings"
)

// Listed reports whether a generic product contains this many milligrams of an
// ingredient per unit, such as a tablet. It is true for all strengths if the
// dictionary has no such product with the ingredient.
func Listed(ingredient string, mg float64) bool {
	b := loaded()
	meant, ok := b.byName[strings.ToLower(ingredient)]
	if !ok || meant.substance < 0 {
		return true
	}
	known := false
	return slices.ContainsFunc(b.withIn[meant.substance], func(i int32) bool {
		p := &b.products[i]
		return slices.ContainsFunc(b.parts[p.first:p.past], func(part part) bool {
			solid := part.substance == meant.substance && part.amount.measure == milligrams && part.amount.per == perUnit
			known = known || solid
			return solid && same(part.amount.value, mg)
		})
	}) || !known
}
