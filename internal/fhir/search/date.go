package search

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// prefixes are the comparisons of dates.
var prefixes = []string{"eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"}

// dateForm are the dates and times of FHIR, with the parts that may be absent.
var dateForm = regexp.MustCompile(`^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$`)

func parseDate(text string) (v value, problem string) {
	v.prefix = "eq"
	if len(text) > 2 && text[0] >= 'a' && text[0] <= 'z' {
		v.prefix, text = text[:2], text[2:]
		if !slices.Contains(prefixes, v.prefix) {
			return v, "must have one of the prefixes " + strings.Join(prefixes, ", ") + ", or none."
		}
	}
	var ok bool
	if v.low, v.up, ok = span(text); !ok {
		return v, "must be a date or time, such as 2026, 2026-01, 2026-01-15 or 2026-01-15T10:30:00Z."
	}
	return v, ""
}

// span returns the first moment of a date or time and the first one after it,
// in milliseconds. Without a zone it is in UTC.
func span(text string) (low, up int64, ok bool) {
	// A plus sign in a query is read as a space.
	if len(text) > 19 && text[len(text)-6] == ' ' {
		text = text[:len(text)-6] + "+" + text[len(text)-5:]
	}
	if !dateForm.MatchString(text) {
		return 0, 0, false
	}
	layout, step := "2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }
	switch clock, zone := clockOf(text); {
	case len(text) == 7:
		layout, step = "2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	case len(text) == 10:
		layout, step = "2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	case len(text) > 10:
		precision := time.Minute
		layout = "2006-01-02T15:04"
		if len(clock) > 5 {
			layout, precision = "2006-01-02T15:04:05", time.Second
		}
		if _, fraction, has := strings.Cut(clock, "."); has {
			precision = time.Millisecond * time.Duration(math.Pow10(max(0, 3-len(fraction))))
		}
		if zone != "" {
			layout += "Z07:00"
		}
		step = func(t time.Time) time.Time { return t.Add(precision) }
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0, 0, false
	}
	t = t.UTC().Truncate(time.Millisecond)
	return t.UnixMilli(), step(t).UnixMilli(), true
}

// clockOf returns the time of day and the zone of a text.
func clockOf(text string) (clock, zone string) {
	_, clock, _ = strings.Cut(text, "T")
	if at := strings.IndexAny(clock, "Z+-"); at >= 0 {
		clock, zone = clock[:at], clock[at:]
	}
	return clock, zone
}

// dateOf returns the range of an element: a date, a time or a Period, which may
// be open.
func dateOf(element any) (low, up int64, ok bool) {
	switch e := element.(type) {
	case string:
		return span(e)
	case map[string]any:
		low, up = math.MinInt64, math.MaxInt64
		if start, has := e["start"].(string); has {
			if low, _, ok = span(start); !ok {
				return 0, 0, false
			}
		}
		if end, has := e["end"].(string); has {
			if _, up, ok = span(end); !ok {
				return 0, 0, false
			}
		}
		return low, up, e["start"] != nil || e["end"] != nil
	}
	return 0, 0, false
}

// matchDate compares a range with that of a value, as FHIR defines the
// prefixes.
func (v *value) matchDate(low, up int64) bool {
	contained := v.low <= low && up <= v.up
	switch v.prefix {
	case "ne":
		return !contained
	case "gt":
		return up > v.up
	case "lt":
		return low < v.low
	case "ge":
		return up > v.up || contained
	case "le":
		return low < v.low || contained
	case "sa":
		return low >= v.up
	case "eb":
		return up <= v.low
	}
	return contained
}

// Span returns the first moment of a date or time as FHIR writes them, and the
// first one after it. Without a zone it is in UTC.
func Span(text string) (low, up time.Time, ok bool) {
	first, next, ok := span(text)
	return time.UnixMilli(first).UTC(), time.UnixMilli(next).UTC(), ok
}
