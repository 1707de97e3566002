package fhir

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// primitives has, for each primitive type, the function that returns what is
// wrong with a value, or "".
var primitives = map[string]func(strictjson.Value) string{
	"boolean":      boolean,
	"decimal":      decimalProblem,
	"integer":      integerFrom(-1<<31, "The element must be a whole number."),
	"positiveInt":  integerFrom(1, "The element must be a whole number above 0."),
	"unsignedInt":  integerFrom(0, "The element must be a whole number from 0."),
	"string":       texts(stringProblem),
	"markdown":     texts(stringProblem),
	"xhtml":        texts(xhtmlProblem),
	"code":         texts(codeProblem),
	"id":           texts(matches(`^[A-Za-z0-9\-.]{1,64}$`, "An id has up to 64 letters, digits, hyphens and points.")),
	"uri":          texts(uriProblem),
	"url":          texts(uriProblem),
	"canonical":    texts(uriProblem),
	"oid":          texts(matches(`^urn:oid:[0-2](\.(0|[1-9][0-9]*))+$`, "The element must be an OID such as urn:oid:1.2.3.")),
	"uuid":         texts(matches(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, "The element must be a UUID with the prefix urn:uuid:.")),
	"base64Binary": texts(base64Problem),
	"date":         texts(dateProblem),
	"dateTime":     texts(dateTimeProblem),
	"instant":      texts(instantProblem),
	"time":         texts(matches(`^([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?$`, "The element must be a time such as 10:30:00.")),
}

const mustBeText = "The element must be a string."

// texts checks a value that is a JSON string.
func texts(problem func(string) string) func(strictjson.Value) string {
	return func(v strictjson.Value) string {
		s, ok := v.AsString()
		if !ok {
			return mustBeText
		}
		return problem(s)
	}
}

func matches(pattern, problem string) func(string) string {
	form := regexp.MustCompile(pattern)
	return func(s string) string {
		if !form.MatchString(s) {
			return problem
		}
		return ""
	}
}

var codeForm = regexp.MustCompile(`^\S+(\s\S+)*$`)

func isCode(s string) bool { return codeForm.MatchString(s) }

func codeProblem(s string) string {
	if !isCode(s) {
		return "The element must be a code."
	}
	return ""
}

func boolean(v strictjson.Value) string {
	if v.Kind() != strictjson.KindBool {
		return "The element must be true or false."
	}
	return ""
}

// maxDigits and maxExponent bound decimals, so that exact arithmetic with them
// is cheap.
const (
	maxDigits   = 64
	maxExponent = 300
)

func decimalProblem(v strictjson.Value) string {
	if v.Kind() != strictjson.KindNumber {
		return "The element must be a number."
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(string(v.Raw())), "e")
	if len(digits) > maxDigits {
		return "The number has too many digits."
	}
	if exponent != "" {
		if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
			return "The number is too large or too small."
		}
	}
	return ""
}

func integerFrom(min int64, problem string) func(strictjson.Value) string {
	return func(v strictjson.Value) string {
		if v.Kind() != strictjson.KindNumber {
			return problem
		}
		n, err := strconv.ParseInt(string(v.Raw()), 10, 32)
		if err != nil || n < min {
			return problem
		}
		return ""
	}
}

func stringProblem(s string) string {
	blank := true
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return "A string must not have control characters."
		}
		blank = blank && unicode.IsSpace(r)
	}
	if blank {
		return "A string must not be empty or blank."
	}
	return ""
}

// xhtmlProblem checks a narrative, which is kept as received and may be shown
// by others.
func xhtmlProblem(s string) string {
	text := strings.ToLower(strings.TrimSpace(s))
	if !strings.HasPrefix(text, "<div") || !strings.HasSuffix(text, ">") {
		return "A narrative must be one div element of XHTML."
	}
	for _, active := range [...]string{"<script", "<iframe", "<object", "<embed", "<form", "<link", "<base", "javascript:"} {
		if strings.Contains(text, active) {
			return "A narrative must not have active content."
		}
	}
	return ""
}

func uriProblem(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "The element must be a URI, without spaces."
	}
	return ""
}

func base64Problem(s string) string {
	if data, err := decodeBinary(s); err != nil || len(data) == 0 {
		return "The element must be in base64."
	}
	return ""
}

func dateProblem(s string) string {
	if !pain.IsPartialDate(s) {
		return "The element must be a real date in the form YYYY, YYYY-MM or YYYY-MM-DD."
	}
	return ""
}

var (
	dateTimeForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`)
	// leapSecond is the second 60, which FHIR allows and we cannot store.
	leapSecond = regexp.MustCompile(`T[0-9]{2}:[0-9]{2}:60`)
)

func instantProblem(s string) string {
	if leapSecond.MatchString(s) {
		return "Leap seconds are not supported."
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil || !dateTimeForm.MatchString(s) {
		return "The element must be a time such as 2026-01-15T10:30:00Z, with a time zone."
	}
	return ""
}

func dateTimeProblem(s string) string {
	if pain.IsPartialDate(s) {
		return ""
	}
	if problem := instantProblem(s); problem != "" {
		return "The element must be a date, or a time such as 2026-01-15T10:30:00Z, with a time zone."
	}
	return ""
}
