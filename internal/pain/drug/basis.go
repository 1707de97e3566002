package drug

// Basis is what a medicine's class rests on.
type Basis string

// The bases. Those of codes and names that [Find] does not look up yet are
// named already: callers can rely on the list.
const (
	ByRxNorm Basis = "rxnorm"
	ByNDC    Basis = "ndc"
	ByName   Basis = "name"
	ByBrand  Basis = "brand"
	ByAlias  Basis = "alias"
	ByStated Basis = "stated" // what the caller said
	ByNone   Basis = "none"   // nothing: the medicine is not understood
)

// Bases lists the bases.
func Bases() []Basis { return []Basis{ByRxNorm, ByNDC, ByName, ByBrand, ByAlias, ByStated, ByNone} }

// Basis is by what the medicine was found: its code, else its name.
func (f Found) Basis() Basis {
	switch {
	case f.coded != nil:
		return ByRxNorm
	case len(f.named) > 0:
		return ByName
	}
	return ByNone
}
