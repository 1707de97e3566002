package dictionary

import (
	"slices"
	"strings"
)

// Listed reports whether a generic product has so many milligrams of an
// ingredient in one unit, such as a tablet. Of an ingredient without such
// products every strength is listed: the dictionary cannot tell.
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
