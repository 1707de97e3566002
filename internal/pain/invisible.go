package pain

import (
	"strings"
	"unicode"
)

// isInvisible reports whether r leaves no trace on the screen: zero-width
// characters, soft hyphens, byte order marks, marks of writing direction,
// fillers. Spaces are not among them. These are the default ignorable code
// points of Unicode, and the empty braille pattern.
func isInvisible(r rune) bool {
	const softHyphen, emptyBraille = '\u00ad', '\u2800'
	switch {
	case r < softHyphen:
		return false
	case r == emptyBraille:
		return true
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && (r < 0xfff9 || r > 0xfffb) && (r < 0x13430 || r > 0x13440)
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isBlank reports whether a text shows nothing.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !isInvisible(r) })
}
