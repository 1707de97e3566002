package fhir

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"anodyne.example/anodyne/internal/strictjson"
)

// Observations are most of what an export writes and of what is received, so
// they are written and read by codecs, which take less than half the time of
// package json. A test compares the two.

// codec is how the fields of an object are written, in this order, and read.
type codec[T any] []field[T]

type field[T any] struct {
	name   string
	key    string                                // the name in JSON, with the colon
	write  func(m *members, key string, from *T) // nothing if it has no value
	decode func(v strictjson.Value, to *T)
}

func newField[T any](name string, write func(m *members, key string, from *T), decode func(v strictjson.Value, to *T)) field[T] {
	return field[T]{name, `"` + name + `":`, write, decode}
}

// append appends an object.
func (c codec[T]) append(b []byte, from *T) []byte {
	m := members{b: b}
	c.write(&m, from)
	return m.b
}

func (c codec[T]) write(m *members, from *T) {
	m.b, m.first = append(m.b, '{'), true
	for i := range c {
		c[i].write(m, c[i].key, from)
	}
	m.b, m.first = append(m.b, '}'), false
}

// decode reads a validated object. Other fields than those of the codec are left
// out.
func (c codec[T]) decode(v strictjson.Value, to *T) {
	o, ok := v.AsObject()
	if !ok {
		return
	}
	for name, value := range o.Names() {
		for i := range c {
			if c[i].name == string(name) {
				c[i].decode(value, to)
				break
			}
		}
	}
}

// members appends the fields of objects.
type members struct {
	b     []byte
	first bool // the next field is the first of its object
}

func (m *members) key(key string) {
	if !m.first {
		m.b = append(m.b, ',')
	}
	m.first = false
	m.b = append(m.b, key...)
}

func (m *members) text(key, s string) {
	if s != "" {
		m.key(key)
		m.b = strictjson.AppendString(m.b, s)
	}
}

// textField is a text, which is left out if it is "".
func textField[T any](name string, at func(*T) *string) field[T] {
	return newField(name,
		func(m *members, key string, from *T) { m.text(key, *at(from)) },
		func(v strictjson.Value, to *T) { *at(to), _ = v.AsString() },
	)
}

// textsField is a list of texts, which is left out if it is empty.
func textsField[T any](name string, at func(*T) *[]string) field[T] {
	return arrayField(name, at,
		func(m *members, s *string) { m.b = strictjson.AppendString(m.b, *s) },
		func(v strictjson.Value, to *string) { *to, _ = v.AsString() })
}

// numberField is a number as it was written, which is left out if it is "".
func numberField[T any](name string, at func(*T) *json.Number) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			if n := *at(from); n != "" {
				m.key(key)
				m.b = append(m.b, n...)
			}
		},
		func(v strictjson.Value, to *T) {
			if v.Kind() == strictjson.KindNumber {
				*at(to) = json.Number(v.Raw())
			}
		},
	)
}

// rawField is a field of any type, as it was written.
func rawField[T any](name string, at func(*T) *json.RawMessage) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			if raw := *at(from); len(raw) > 0 {
				m.key(key)
				m.b = append(m.b, raw...)
			}
		},
		func(v strictjson.Value, to *T) { *at(to) = v.Raw() },
	)
}

// flagField is true or false, which is left out if it is nil.
func flagField[T any](name string, at func(*T) **bool) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			if flag := *at(from); flag != nil {
				m.key(key)
				m.b = strconv.AppendBool(m.b, *flag)
			}
		},
		func(v strictjson.Value, to *T) {
			set := string(v.Raw()) == "true"
			*at(to) = &set
		},
	)
}

// binaryField is data, which is left out if there is none.
func binaryField[T any](name string, at func(*T) *binary) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			m.text(key, base64.StdEncoding.EncodeToString(*at(from)))
		},
		func(v strictjson.Value, to *T) {
			text, _ := v.AsString()
			*at(to), _ = decodeBinary(text) // it was validated
		},
	)
}

// objectField is an object, which is left out if it is nil.
func objectField[T, V any](name string, of *codec[V], at func(*T) **V) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			if v := *at(from); v != nil {
				m.key(key)
				of.write(m, v)
			}
		},
		func(v strictjson.Value, to *T) {
			one := new(V)
			of.decode(v, one)
			*at(to) = one
		},
	)
}

// listField is a list of objects, which is left out if it is empty.
func listField[T, V any](name string, of *codec[V], at func(*T) *[]V) field[T] {
	return arrayField(name, at,
		func(m *members, v *V) { of.write(m, v) },
		func(v strictjson.Value, to *V) { of.decode(v, to) })
}

func arrayField[T, V any](name string, at func(*T) *[]V, write func(*members, *V), decode func(strictjson.Value, *V)) field[T] {
	return newField(name,
		func(m *members, key string, from *T) {
			list := *at(from)
			if len(list) == 0 {
				return
			}
			m.key(key)
			separator := byte('[')
			for i := range list {
				m.b = append(m.b, separator)
				write(m, &list[i])
				separator = ','
			}
			m.b = append(m.b, ']')
		},
		func(v strictjson.Value, to *T) {
			array, ok := v.AsArray()
			if !ok {
				return
			}
			list := make([]V, array.Len())
			for i, one := range array.All() {
				decode(one, &list[i])
			}
			*at(to) = list
		},
	)
}
