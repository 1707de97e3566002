package pain

import (
	"math"
	"strconv"
)

// span is the range of a numeric field.
type span struct {
	min, max float64
	whole    bool
	above    bool // min itself is excluded
	unit     string
}

func between(min, max float64) span { return span{min: min, max: max} }
func wholes(min, max float64) span  { return span{min: min, max: max, whole: true} }
func above(min, max float64) span   { return span{min: min, max: max, above: true} }

func (s span) in(unit string) span {
	s.unit = unit
	return s
}

func (s span) holds(f float64) bool {
	return f >= s.min && f <= s.max && (!s.above || f > s.min) && (!s.whole || f == math.Trunc(f))
}

// problem is the error message for a number out of range.
func (s span) problem() string {
	b := []byte("must be a ")
	if s.whole {
		b = append(b, "whole "...)
	}
	b = append(b, "number "...)
	if s.above {
		b = append(b, "above "...)
	} else {
		b = append(b, "from "...)
	}
	b = appendNumber(b, s.min)
	if s.above {
		b = append(b, " and up"...)
	}
	b = append(b, " to "...)
	b = appendNumber(b, s.max)
	if s.unit != "" {
		b = append(b, " ("+s.unit+")"...)
	}
	return string(append(b, '.'))
}

func (s span) appendSchema(b []byte) []byte {
	if s.whole {
		b = append(b, `"type":"integer",`...)
	} else {
		b = append(b, `"type":"number",`...)
	}
	if s.above {
		b = append(b, `"exclusiveMinimum":`...)
	} else {
		b = append(b, `"minimum":`...)
	}
	b = appendNumber(b, s.min)
	b = append(b, `,"maximum":`...)
	return appendNumber(b, s.max)
}

// number is a numeric field with a range.
func number[T any](name string, at func(*T) *Number, allowed span) member[T] {
	problem := allowed.problem()
	cells := columnOf(name, NumberColumn, Kept, func(v *T) Cell { return numberCell(*at(v)) })
	if cells[0].Unit = allowed.unit; allowed.whole {
		cells[0].Type = IntegerColumn
	}
	return member[T]{
		name: name, about: allowed.unit, cells: cells,
		read: func(r *reading, v *T) {
			f, ok := r.Number(name)
			switch {
			case !ok:
			case !r.stored && !allowed.holds(f):
				r.Fault(name, problem)
			default:
				*at(v) = Some(f + 0) // no negative zero
			}
		},
		print:  func(b []byte, v *T) []byte { return appendMaybeNumber(b, *at(v)) },
		schema: allowed.appendSchema,
	}
}

// result is a computed number or null.
func result[T any](name string, at func(*T) *Number) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			if _, isNull := r.Has(name); isNull {
				*at(v) = none[float64]()
			} else if f, ok := r.Number(name); ok {
				*at(v) = Some(f)
			}
		},
		print:  func(b []byte, v *T) []byte { return appendMaybeNumber(b, *at(v)) },
		schema: func(b []byte) []byte { return append(b, `"type":["number","null"]`...) },
		cells:  columnOf(name, NumberColumn, Kept, func(v *T) Cell { return numberCell(*at(v)) }),
	}
}

func appendMaybeNumber(b []byte, n Number) []byte {
	switch n.state {
	case present:
		return appendNumber(b, n.value)
	case null:
		return append(b, "null"...)
	}
	return b
}

// yesNo is a boolean field. If computed, it may be null.
func yesNo[T any](name string, at func(*T) *Flag) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			if yes, ok := r.Bool(name); ok {
				*at(v) = Some(yes)
			}
		},
		print: func(b []byte, v *T) []byte {
			switch flag := at(v); flag.state {
			case present:
				return strconv.AppendBool(b, flag.value)
			case null:
				return append(b, "null"...)
			}
			return b
		},
		schema: func(b []byte) []byte { return append(b, `"type":"boolean"`...) },
		cells:  columnOf(name, BooleanColumn, Kept, func(v *T) Cell { return flagCell(*at(v)) }),
	}
}

// verdict is a computed boolean or null.
func verdict[T any](name string, at func(*T) *Flag) member[T] {
	m := yesNo(name, at)
	read := m.read
	m.read = func(r *reading, v *T) {
		if _, isNull := r.Has(name); isNull {
			*at(v) = none[bool]()
			return
		}
		read(r, v)
	}
	m.schema = func(b []byte) []byte { return append(b, `"type":["boolean","null"]`...) }
	return m
}
