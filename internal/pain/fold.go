package pain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters maps letters that do not decompose into a plain letter and a mark
// but are typed as plain letters, and punctuation with common variants.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ɖ': "d", 'ɗ': "d", 'þ': "th",
	'ħ': "h", 'ŧ': "t", 'ŋ': "n", 'ǥ': "g", 'ɓ': "b", 'ƙ': "k", 'ƴ': "y", 'ȼ': "c", 'ɨ': "i", 'ʉ': "u", 'ƶ': "z",
	'‘': "'", '’': "'", 'ʻ': "'", 'ʼ': "'", 'ʹ': "'", '′': "'", '‐': "-", '–': "-",
}

// Fold returns the form of a name used for searching: without case, accents,
// letter variants and invisible characters. Search terms are folded in the
// same way. Spaces and special characters are kept and match literally. Fold
// is idempotent.
func Fold(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	name = strings.ToValidUTF8(name, string(utf8.RuneError)) // norm does not handle invalid bytes
	var folded strings.Builder
	folded.Grow(len(name))
	for _, r := range norm.NFKD.String(name) {
		if isMark(r) || isInvisible(r) {
			continue
		}
		// Upper case first, so that all variants of a letter, such as both
		// small sigmas and the dotless i, become the same.
		r = unicode.ToLower(unicode.ToUpper(r))
		if plain, ok := letters[r]; ok {
			folded.WriteString(plain)
		} else {
			folded.WriteRune(r)
		}
	}
	return folded.String()
}

// isMark reports whether r is a mark on a letter: a nonspacing mark, or a
// spacing tone mark.
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
