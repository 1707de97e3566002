package client

import "encoding/json"

// Optional is a member of a patch: absent (the zero value), null, or a value.
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

// Set makes a member that replaces what is there.
func Set[T any](value T) Optional[T] { return Optional[T]{state: present, value: value} }

// Null makes a member that clears what is there.
func Null[T any]() Optional[T] { return Optional[T]{state: null} }

// IsZero reports whether the member is absent, for the omitzero tag.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != present {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}
