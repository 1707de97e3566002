package pain

import (
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// nested is a field that is an object with fields of its own, at least one of
// which must be present.
func nested[T, U any](name string, at func(*T) *U, members []member[U]) member[T] {
	problem := oneOfThese(members)
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			o, ok := r.Object(name)
			if !ok {
				return
			}
			inner := read(o, r.fields, r.stored)
			readMembers(members, inner, at(v))
			if r.stored {
				return
			}
			if !anyThere(members, inner) {
				r.Fault(name, problem)
			}
			inner.Done()
		},
		print: func(b []byte, v *T) []byte {
			start := len(b)
			if b = appendMembers(b, members, at(v)); len(b) == start+len("{}") {
				return b[:start]
			}
			return b
		},
		schema: func(b []byte) []byte { return append(appendObjectSchema(b, members, true), `,"minProperties":1`...) },
		cells:  within(name, at, members),
	}
}

// oneOfThese is the error message for an empty object.
func oneOfThese[T any](members []member[T]) string {
	var names []string
	for i := range members {
		if !members[i].computed {
			names = append(names, members[i].name)
		}
	}
	return "must have at least one of " + strings.Join(names, ", ") + "."
}

// day is a field with a date.
func day[T any](name string, at func(*T) *Date) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			if !isThere(r, name) {
				return
			}
			value, _ := r.Value(name)
			s, _ := value.AsString() // a value of another type is not a date either
			d, err := ParseDate(s)
			if err != nil {
				r.Fault(name, err.Error()+".")
				return
			}
			*at(v) = d
		},
		print: func(b []byte, v *T) []byte {
			if *at(v) == (Date{}) {
				return b
			}
			return append(at(v).Append(append(b, '"')), '"')
		},
		schema: func(b []byte) []byte { return append(b, `"type":"string","format":"date"`...) },
		cells:  columnOf(name, DateColumn, DaysOnly, func(v *T) Cell { return DateCell(*at(v)) }),
	}
}

// partialDay is a field with a partial date.
func partialDay[T any](name string, at func(*T) *string) member[T] {
	return member[T]{
		name:   name,
		about:  "YYYY, YYYY-MM or YYYY-MM-DD",
		read:   func(r *reading, v *T) { *at(v), _ = readPartialDate(&r.Reader, name) },
		print:  func(b []byte, v *T) []byte { return appendText(b, *at(v)) },
		schema: func(b []byte) []byte { return append(b, `"type":"string","pattern":"^[0-9]{4}(-[0-9]{2}){0,2}$"`...) },
		cells:  columnOf(name, TextColumn, DaysOnly, func(v *T) Cell { return TextCell(*at(v)) }),
	}
}

// NumberOrText is a number or a line of text. One of the two is set.
type NumberOrText struct {
	Number Number
	Text   string
}

// numberOrText is a field with a number or a text, which are two columns.
func numberOrText[T any](name string, at func(*T) *NumberOrText, allowed span, max int) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			value, ok := r.Value(name)
			if !ok {
				return
			}
			if s, isText := value.AsString(); isText {
				s = strings.TrimSpace(s)
				if problem := LineProblem(s, max); s == "" {
					r.Fault(name, "must not be blank.")
				} else if problem != "" {
					r.Fault(name, problem)
				} else {
					at(v).Text = s
				}
				return
			}
			f, isNumber := value.AsNumber()
			switch {
			case !isNumber:
				r.Fault(name, "must be a number or a string.")
			case !allowed.holds(f):
				r.Fault(name, allowed.problem())
			default:
				at(v).Number = Some(f + 0)
			}
		},
		print: func(b []byte, v *T) []byte {
			if at(v).Text != "" {
				return strictjson.AppendString(b, at(v).Text)
			}
			return appendMaybeNumber(b, at(v).Number)
		},
		schema: func(b []byte) []byte {
			b = append(b, `"oneOf":[{`...)
			b = allowed.appendSchema(b)
			return append(b, `},{"type":"string","minLength":1,"maxLength":200}]`...)
		},
		cells: []column[T]{
			{Column{Name: name, Type: NumberColumn, About: "if it is a number", Privacy: Kept}, func(v *T) Cell { return numberCell(at(v).Number) }},
			{Column{Name: name + "_text", About: "if it is a text"}, func(v *T) Cell { return TextCell(at(v).Text) }},
		},
	}
}
