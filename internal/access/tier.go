package access

import (
	"fmt"
	"strings"
)

// Tier is a client's rate-limit tier.
type Tier uint8

// The rate-limit tiers.
const (
	Standard Tier = iota
	Professional
	Enterprise
)

var tiers = [...]struct {
	name  string
	limit int64
}{{"standard", 1_000}, {"professional", 10_000}, {"enterprise", 100_000}}

// Tiers lists the tiers, the lowest first.
func Tiers() []Tier {
	list := make([]Tier, len(tiers))
	for i := range list {
		list[i] = Tier(i)
	}
	return list
}

// TierNames are the names in a sentence: "standard, professional and
// enterprise", with another word for "and" if it must be.
func TierNames(and string) string {
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = t.name
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + and + " " + names[last]
}

// ParseTier parses the name of a tier.
func ParseTier(s string) (Tier, error) {
	for i, t := range tiers {
		if s == t.name {
			return Tier(i), nil
		}
	}
	return 0, fmt.Errorf("unknown tier %q; the tiers are %s", s, TierNames("and"))
}

// String returns the name of the tier.
func (t Tier) String() string { return tiers[t].name }

// Limit returns the number of requests allowed per hour.
func (t Tier) Limit() int64 { return tiers[t].limit }
