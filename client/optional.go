package client

import "encoding/json"

// Optional is a field of a patch: absent (the zero value), null, or a value.
type Optional[T any] struct {
	state optionalState
	value T
}

type optionalState uint8

const (
	absent optionalState = iota
	null
	present
)

// Set returns a field that replaces the current value.
func Set[T any](value T) Optional[T] { return Optional[T]{state: present, value: value} }

// Null returns a field that clears the current value.
func Null[T any]() Optional[T] { return Optional[T]{state: null} }

// IsZero reports whether the field is absent, for the omitzero tag.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// MarshalJSON encodes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != present {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}
