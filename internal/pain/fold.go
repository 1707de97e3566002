package pain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters are those that do not decompose into a plain letter and a mark but
// that people type as plain letters, and punctuation that keyboards and word
// processors disagree about.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ɖ': "d", 'ɗ': "d", 'þ': "th",
	'ħ': "h", 'ŧ': "t", 'ŋ': "n", 'ǥ': "g", 'ɓ': "b", 'ƙ': "k", 'ƴ': "y", 'ȼ': "c", 'ɨ': "i", 'ʉ': "u", 'ƶ': "z",
	'‘': "'", '’': "'", 'ʻ': "'", 'ʼ': "'", 'ʹ': "'", '′': "'", '‐': "-", '–': "-",
}

// Fold returns the form of a name in which names are searched: without case,
// accents and variants of letters. A term is folded in the same way; spaces
// and special characters stay and mean themselves. Folding twice changes
// nothing more.
func Fold(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	name = strings.ToValidUTF8(name, string(utf8.RuneError)) // norm loses its step at invalid bytes
	var folded strings.Builder
	folded.Grow(len(name))
	for _, r := range norm.NFKD.String(name) {
		if isMark(r) {
			continue
		}
		// Upper case first, so that all variants of a letter, such as both
		// forms of the small sigma and the dotless i, meet.
		r = unicode.ToLower(unicode.ToUpper(r))
		if plain, ok := letters[r]; ok {
			folded.WriteString(plain)
		} else {
			folded.WriteRune(r)
		}
	}
	return folded.String()
}

// isMark reports whether r is a mark on a letter: the marks without a width of
// their own, and the tone marks that have one.
func isMark(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.Mn, r) ||
		unicode.Is(unicode.Mc, r) && norm.NFKD.PropertiesString(string(r)).CCC() != 0)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
