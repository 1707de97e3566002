package pain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/strictjson"
)

// readText reads an optional text. problem returns what is wrong with it, or
// "".
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

// readLine reads an optional line of at most max characters.
func readLine(r *strictjson.Reader, name string, max int) string {
	return readText(r, name, func(s string) string { return LineProblem(s, max) })
}

// LineProblem returns what is wrong with a line of text, or "". Lengths are in
// characters. Marks of writing direction are allowed, because names need them.
func LineProblem(s string, max int) string {
	return charactersProblem(s, max, isControl, "must not contain control characters or line breaks.")
}

// charactersProblem returns what is wrong with a text that may have up to max
// characters: problem, if there is one that is refused.
func charactersProblem(s string, max int, refused func(rune) bool, problem string) string {
	switch {
	case utf8.RuneCountInString(s) > max:
		return atMost(max)
	case strings.ContainsFunc(s, refused):
		return problem
	}
	return ""
}

// notesProblem returns what is wrong with the notes of a history entry, or "".
func notesProblem(s string) string { return textProblem(s, maxNotes) }

// textProblem returns what is wrong with a text of several lines, or "".
func textProblem(s string, max int) string {
	return charactersProblem(s, max, func(r rune) bool { return isControl(r) && !strings.ContainsRune("\n\r\t", r) }, "must not contain control characters.")
}

func atMost(max int) string { return "must have at most " + strconv.Itoa(max) + " characters." }

// isControl reports whether r is a control character or a line or paragraph
// separator, which some readers treat as a line break.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// emailProblem only rejects what cannot be an e-mail address.
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

func phoneProblem(s string) string { return printableProblem(s, maxPhone) }

// printableProblem returns what is wrong with a line of which every character
// must be visible, or "".
func printableProblem(s string, max int) string {
	return charactersProblem(s, max, func(r rune) bool { return !unicode.IsPrint(r) }, "must have printable characters only.")
}
