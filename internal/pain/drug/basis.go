package drug

// Basis is what a medicine's class rests on.
type Basis string

// The bases.
const (
	ByRxNorm Basis = "rxnorm"
	ByNDC    Basis = "ndc"
	ByName   Basis = "name"
	ByBrand  Basis = "brand"
	ByAlias  Basis = "alias"  // of the organisation
	ByStated Basis = "stated" // what the caller said
	ByNone   Basis = "none"   // nothing: the medicine is not understood
)

// Bases lists the bases.
func Bases() []Basis { return []Basis{ByRxNorm, ByNDC, ByName, ByBrand, ByAlias, ByStated, ByNone} }
