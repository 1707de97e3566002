package drug

// Release is the release of an oral medicine. Patients often take both at
// once, for example extended-release morphine, and immediate-release morphine
// for breakthrough pain.
type Release uint8

// The releases.
const (
	AnyRelease Release = iota // unknown
	Immediate
	Extended
)

// MayBe reports whether two releases may be the same.
func (r Release) MayBe(other Release) bool {
	return r == other || r == AnyRelease || other == AnyRelease
}
