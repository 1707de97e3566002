package pain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// appendText appends a text unless it is empty.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	return strictjson.AppendString(b, s)
}

// text is a text field. problem returns what is wrong with a value, or "".
// What happens to its column when data is de-identified must be declared.
func text[T any](name string, at func(*T) *string, max int, problem func(string) string) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			if s, ok := r.String(name); ok {
				if wrong := problem(s); wrong != "" && !r.stored {
					r.Fault(name, wrong)
				} else {
					*at(v) = s
				}
			}
		},
		print: func(b []byte, v *T) []byte { return appendText(b, *at(v)) },
		schema: func(b []byte) []byte {
			return strconv.AppendInt(append(b, `"type":"string","maxLength":`...), int64(max), 10)
		},
		cells: columnOf(name, TextColumn, undecided, func(v *T) Cell { return TextCell(*at(v)) }),
	}
}

// line is a text field with one line, stored trimmed.
func line[T any](name string, at func(*T) *string, max int) member[T] {
	m := text(name, at, max, func(s string) string {
		if strings.TrimSpace(s) == "" {
			return "must not be blank."
		}
		return LineProblem(strings.TrimSpace(s), max)
	})
	read := m.read
	m.read = func(r *reading, v *T) {
		read(r, v)
		*at(v) = strings.TrimSpace(*at(v))
	}
	return m
}

// pattern is a text field with a regular expression. like is an example.
func pattern[T any](name string, at func(*T) *string, form *regexp.Regexp, like string) member[T] {
	problem := "must be a code such as " + like + "."
	m := text(name, at, 0, func(s string) string {
		if !form.MatchString(s) {
			return problem
		}
		return ""
	})
	m.schema = func(b []byte) []byte {
		return strictjson.AppendString(append(b, `"type":"string","pattern":`...), form.String())
	}
	return m
}

// word is a field with an enumerated value.
func word[T any](name string, at func(*T) *string, words []string) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			s, ok := r.String(name)
			if !ok {
				return
			}
			switch i := slices.Index(words, s); {
			case i >= 0:
				*at(v) = words[i]
			case r.stored:
				*at(v) = s
			default:
				r.Fault(name, WordProblem(s, words))
			}
		},
		print:  func(b []byte, v *T) []byte { return appendText(b, *at(v)) },
		schema: func(b []byte) []byte { return appendEnum(b, words) },
		cells:  columnOf(name, TextColumn, Kept, func(v *T) Cell { return TextCell(*at(v)) }),
	}
}

// WordProblem returns an error message that lists the allowed words and
// suggests the probable one.
func WordProblem(s string, words []string) string {
	problem := "must be one of " + strings.Join(words, ", ") + "."
	if meant := strictjson.Suggest(s, words); meant != "" {
		problem += " Did you mean " + strconv.Quote(meant) + "?"
	}
	return problem
}

func appendEnum(b []byte, words []string) []byte {
	b = append(b, `"type":"string","enum":[`...)
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, w)
	}
	return append(b, ']')
}

// words is a list of distinct enumerated values.
func words[T any](name string, at func(*T) *[]string, allowed []string) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			list, ok := r.Array(name)
			if !ok {
				return
			}
			if list.Len() > len(allowed) && !r.stored {
				r.Fault(name, "must have at most "+strconv.Itoa(len(allowed))+" different values.")
				return
			}
			for _, element := range list.All() {
				s, _ := element.AsString() // a value of another type is not a word either
				switch i := slices.Index(allowed, s); {
				case r.stored:
					*at(v) = append(*at(v), s)
				case i < 0:
					element.Fault(r.fields, WordProblem(s, allowed))
				case slices.Contains(*at(v), s):
					element.Fault(r.fields, "must not be repeated.")
				default:
					*at(v) = append(*at(v), allowed[i])
				}
			}
		},
		print: func(b []byte, v *T) []byte { return appendWords(b, *at(v)) },
		schema: func(b []byte) []byte {
			b = append(b, `"type":"array","uniqueItems":true,"items":{`...)
			return append(appendEnum(b, allowed), '}')
		},
		cells: columnOf(name, TextsColumn, Kept, func(v *T) Cell { return TextsCell(*at(v)) }),
	}
}

// texts is a list of free texts. It is only used for derived values, never
// read from a caller.
func texts[T any](name string, at func(*T) *[]string) member[T] {
	return member[T]{
		name: name,
		read: func(r *reading, v *T) {
			if list, ok := r.Array(name); ok {
				for _, element := range list.All() {
					s, _ := element.AsString()
					*at(v) = append(*at(v), s)
				}
			}
		},
		print:  func(b []byte, v *T) []byte { return appendWords(b, *at(v)) },
		schema: func(b []byte) []byte { return append(b, `"type":"array","items":{"type":"string"}`...) },
		cells:  columnOf(name, TextsColumn, undecided, func(v *T) Cell { return TextsCell(*at(v)) }),
	}
}

func appendWords(b []byte, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	for i, s := range list {
		if i == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, s)
	}
	return append(b, ']')
}
