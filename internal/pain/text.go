package pain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/strictjson"
)

// readText reads an optional text; problem says what is wrong with it, if
// anything.
func readText(r *strictjson.Reader, name string, problem func(string) string) string {
	s, ok := r.String(name)
	if !ok {
		return ""
	}
	if wrong := problem(s); wrong != "" {
		r.Fault(name, wrong)
	}
	return s
}

// readLine reads an optional text of one line and at most max characters.
func readLine(r *strictjson.Reader, name string, max int) string {
	return readText(r, name, func(s string) string { return LineProblem(s, max) })
}

// LineProblem says what is wrong with a text of one line. Lengths are in
// characters. Marks of writing direction are fine: names need them.
func LineProblem(s string, max int) string {
	if utf8.RuneCountInString(s) > max {
		return atMost(max)
	}
	if strings.ContainsFunc(s, isControl) {
		return "must not contain control characters or line breaks."
	}
	return ""
}

// notesProblem says what is wrong with the notes of a history.
func notesProblem(s string) string { return textProblem(s, maxNotes) }

// textProblem says what is wrong with a text that may have several lines.
func textProblem(s string, max int) string {
	if utf8.RuneCountInString(s) > max {
		return atMost(max)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && !strings.ContainsRune("\n\r\t", r) }) {
		return "must not contain control characters."
	}
	return ""
}

func atMost(max int) string { return "must have at most " + strconv.Itoa(max) + " characters." }

// isControl covers the control characters and the line and paragraph
// separators, which some readers take for line breaks.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// emailProblem does not try to decide which addresses exist; it keeps out
// what cannot be one.
func emailProblem(s string) string {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case utf8.RuneCountInString(s) > maxEmail:
		return atMost(maxEmail)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isControl(r) }):
		return "must not contain spaces or control characters."
	case local == "" || domain == "" || strings.Contains(domain, "@"):
		return "must be an e-mail address with exactly one @ and text on both sides of it."
	}
	return ""
}

func phoneProblem(s string) string {
	if utf8.RuneCountInString(s) > maxPhone {
		return atMost(maxPhone)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "must have printable characters only."
	}
	return ""
}
