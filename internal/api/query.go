package api

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// query parses the query parameters of a request strictly: in clinical
// software, ignoring a misspelt filter returns the wrong patients.
type query struct {
	values url.Values
	fields fault.Fields
}

// readQuery parses the query. known lists the parameters of the route.
func (x *exchange) readQuery(known ...string) *query {
	q := &query{}
	if x.r.URL.RawQuery == "" {
		return q
	}
	var err error
	if q.values, err = url.ParseQuery(x.r.URL.RawQuery); err != nil {
		q.fields.Add("query", clip(x.r.URL.RawQuery), "The query string is malformed; percent-encode special characters.")
	}
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		values := q.values[name]
		switch {
		case !slices.Contains(known, name):
			message := "Unknown parameter."
			if meant := strictjson.Suggest(name, known); meant != "" {
				message = "Unknown parameter; did you mean " + meant + "?"
			} else if len(known) > 0 {
				message += " Supported parameters: " + strings.Join(known, ", ") + "."
			}
			q.fields.Add(clip(name), clip(values[0]), message)
		case len(values) > 1:
			q.fields.Add(name, clip(strings.Join(values, ",")), name+" is given more than once.")
		case !utf8.ValidString(values[0]):
			q.fields.Add(name, clip(values[0]), name+" is not valid UTF-8.")
		default:
			continue
		}
		delete(q.values, name) // already reported
	}
	return q
}

// noQuery returns an error if a route without parameters was given any.
func (x *exchange) noQuery() error {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	return x.readQuery().err()
}

// clip limits the length of an echoed value.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) > 200 {
		s = string([]rune(s)[:200]) + "…"
	}
	return s
}

// text returns a parameter and whether it was given.
func (q *query) text(name string) (string, bool) {
	values, given := q.values[name]
	if !given {
		return "", false
	}
	return values[0], true
}

// number returns a whole number between low and high, or otherwise if the
// parameter is absent.
func (q *query) number(name string, low, high, otherwise int64) int64 {
	s, given := q.text(name)
	if !given {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high || s[0] == '+' {
		q.fields.Add(name, clip(s), name+" must be a whole number from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10)+".")
		return otherwise
	}
	return n
}

// err returns the errors in the query, or nil.
func (q *query) err() error { return q.fields.Err() }

// date returns a date and whether a valid one was given.
func (q *query) date(name string) (pain.Date, bool) {
	text, given := q.text(name)
	if !given {
		return pain.Date{}, false
	}
	d, err := pain.ParseDate(text)
	if err != nil {
		q.fields.Add(name, clip(text), name+" "+err.Error()+".")
		return pain.Date{}, false
	}
	return d, true
}

// word returns one of words, or otherwise if the parameter is absent.
func (q *query) word(name, otherwise string, words ...string) string {
	text, given := q.text(name)
	if !given {
		return otherwise
	}
	if !slices.Contains(words, text) {
		q.fields.Add(name, clip(text), name+" must be "+strings.Join(words, " or ")+".")
		return otherwise
	}
	return text
}

// flag returns a boolean parameter, which is false if absent.
func (q *query) flag(name string) bool { return q.word(name, "false", "true", "false") == "true" }
