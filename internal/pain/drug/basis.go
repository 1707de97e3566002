package drug

// Basis is the basis of a medicine's class.
type Basis string

// The bases.
const (
	ByRxNorm Basis = "rxnorm"
	ByNDC    Basis = "ndc"
	ByName   Basis = "name"
	ByBrand  Basis = "brand"
	ByAlias  Basis = "alias"  // the organisation's alias
	ByStated Basis = "stated" // stated by the caller
	ByNone   Basis = "none"   // the medicine is unknown
)

// Bases lists the bases.
func Bases() []Basis { return []Basis{ByRxNorm, ByNDC, ByName, ByBrand, ByAlias, ByStated, ByNone} }
