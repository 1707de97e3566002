package pain

import (
	"math"
	"strconv"
)

// Maybe is an optional value. The zero value is missing.
type Maybe[T any] struct {
	value T
	state presence
}

type presence uint8

const (
	missing presence = iota
	null             // not available: encoded as null
	present
)

// Number is an optional number.
type Number = Maybe[float64]

// Flag is an optional boolean.
type Flag = Maybe[bool]

// Some returns a Maybe that holds value.
func Some[T any](value T) Maybe[T] { return Maybe[T]{value, present} }

// none returns a Maybe that is encoded as null.
func none[T any]() Maybe[T] { return Maybe[T]{state: null} }

// Get returns the value and whether there is one.
func (m Maybe[T]) Get() (T, bool) { return m.value, m.state == present }

// Or returns the value, or other if it is missing.
func (m Maybe[T]) Or(other T) T {
	if m.state == present {
		return m.value
	}
	return other
}

// appendNumber appends a finite number in the format of JavaScript.
func appendNumber(b []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		if n := len(b); b[n-2] == '0' && b[n-3] == '-' { // e-07 becomes e-7
			b = append(b[:n-2], b[n-1])
		}
		return b
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}
