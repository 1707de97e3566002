package drug

// Release says how fast an oral medicine is set free. People take one of each
// side by side: morphine that lasts, and morphine for pain that breaks through.
type Release uint8

// The releases.
const (
	AnyRelease Release = iota // not known
	Immediate
	Extended
)

// MayBe reports whether two may be the same.
func (r Release) MayBe(other Release) bool {
	return r == other || r == AnyRelease || other == AnyRelease
}
