// Package decimal rounds numbers for output.
package decimal

import "math"

// noise is how far from a half, in units of the last decimal, a number may be
// and still count as one. A sum of binary fractions that should be 0.21875 is
// often a little less.
const noise = 1e-9

// Round rounds to a number of decimals. Halves are rounded away from zero, also
// if a calculation with binary fractions has just missed them. It never returns
// a negative zero.
func Round(f float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	whole, part := math.Modf(f * unit)
	if math.Abs(part) >= 0.5-noise {
		whole += math.Copysign(1, part)
	}
	return whole/unit + 0
}
