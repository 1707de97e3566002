package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as GOMEMLIMIT is: 268435456, 256MiB or 1GiB.
type Size int64

// sizeUnits are the units of a Size, largest first.
var sizeUnits = []struct {
	name  string
	bytes Size
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String returns the size in the largest unit of which it is a multiple.
func (s *Size) String() string {
	for _, unit := range sizeUnits {
		if n := *s / unit.bytes; n != 0 && n*unit.bytes == *s && unit.bytes > 1 {
			return strconv.FormatInt(int64(n), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set parses a size.
func (s *Size) Set(text string) error {
	unit := Size(1)
	for _, u := range sizeUnits {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = number, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > int64(math.MaxInt64/unit) {
		return errors.New("want a number of bytes, such as 268435456, 256MiB or 1GiB")
	}
	*s = Size(n) * unit
	return nil
}
