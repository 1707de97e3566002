package dictionary

import (
	"unicode"
	"unicode/utf8"
)

// token is a word or number of a name: its position in the folded text, and
// the most significant sign before it: # / + - or a blank.
type token struct {
	begin, end int32
	sign       byte
}

// plainLetters are the letters with marks in names of medicines.
var plainLetters = map[rune]byte{
	'à': 'a', 'á': 'a', 'â': 'a', 'ã': 'a', 'ä': 'a', 'å': 'a', 'ç': 'c', 'è': 'e', 'é': 'e', 'ê': 'e', 'ë': 'e',
	'ì': 'i', 'í': 'i', 'î': 'i', 'ï': 'i', 'ñ': 'n', 'ò': 'o', 'ó': 'o', 'ô': 'o', 'õ': 'o', 'ö': 'o', 'ø': 'o',
	'ù': 'u', 'ú': 'u', 'û': 'u', 'ü': 'u', 'ý': 'y', 'µ': 'u', 'μ': 'u',
}

var signRank = map[rune]int{'-': 1, '–': 1, '+': 2, '&': 2, '/': 3, '#': 4}

// scan folds a name into lower-case words separated by one blank, and returns
// their positions. Marks, apostrophes and punctuation are removed; a point or
// comma within a number is kept as a point.
func scan(name string, text []byte, tokens []token) ([]byte, []token) {
	sign, open := byte(' '), false
	begin := func() {
		if open {
			return
		}
		if len(text) > 0 {
			text = append(text, ' ')
		}
		tokens = append(tokens, token{begin: int32(len(text)), sign: sign})
		sign, open = ' ', true
	}
	finish := func() {
		if open {
			tokens[len(tokens)-1].end = int32(len(text))
			open = false
		}
	}
	var before rune // the rune before this one
	for i := 0; i < len(name); {
		r, width := utf8.DecodeRuneInString(name[i:])
		rest := name[i+width:]
		i += width
		next, size := utf8.DecodeRuneInString(rest)
		switch {
		case 'a' <= r && r <= 'z' || isDigit(r):
			begin()
			text = append(text, byte(r))
		case 'A' <= r && r <= 'Z':
			begin()
			text = append(text, byte(r)+'a'-'A')
		case r == '\'' || r == '’':
		case r == '.' && isDigit(next) && isDigit(before) && open:
			text = append(text, '.')
		case r == '.' && isDigit(next) && !open:
			begin()
			text = append(text, '0', '.')
		case r == ',' && isDigit(next) && isDigit(before) && open:
			if number := text[tokens[len(tokens)-1].begin:]; string(number) == "0" || !isThousands(rest) { // 0,025
				text = append(text, '.')
			}
		case r == '.' && open && isLetter(next) && isInitial(text, tokens) && isLastLetter(rest, size):
		case r == '%':
			finish()
			begin()
			text = append(text, '%')
			finish()
		case r > 127 && unicode.IsLetter(r):
			begin()
			low := unicode.ToLower(r)
			if plain, ok := plainLetters[low]; ok {
				text = append(text, plain)
			} else {
				text = utf8.AppendRune(text, low)
			}
		default:
			finish()
			if signRank[r] > signRank[rune(sign)] {
				sign = byte(r)
				if r == '–' {
					sign = '-'
				}
			}
		}
		before = r
	}
	finish()
	return text, tokens
}

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// isThousands reports whether rest has the three digits after the comma of
// 1,000.
func isThousands(rest string) bool {
	n := 0
	for n < len(rest) && isDigit(rune(rest[n])) {
		n++
	}
	return n == 3
}

// isInitial reports whether there are only single letters so far, as in b.i.d.
func isInitial(text []byte, tokens []token) bool {
	word := text[tokens[len(tokens)-1].begin:]
	return len(word) <= 3 && isLetter(rune(word[0]))
}

// isLastLetter reports whether rest is a single letter.
func isLastLetter(rest string, size int) bool {
	r, _ := utf8.DecodeRuneInString(rest[size:])
	return !isLetter(r) && !isDigit(r)
}

// fold returns the key of a name.
func fold(name string) string {
	var text [96]byte
	var tokens [24]token
	folded, _ := scan(name, text[:0], tokens[:0])
	return string(folded)
}
