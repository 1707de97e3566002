package chart

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// Weight is a font weight.
type Weight uint8

// The weights.
const (
	Regular Weight = iota
	Bold
)

// TTF returns a copy of the font of a weight: the Go fonts, which cover Latin,
// Greek and Cyrillic.
func (w Weight) TTF() []byte {
	if w == Bold {
		return append([]byte(nil), gobold.TTF...)
	}
	return append([]byte(nil), goregular.TTF...)
}

// noGlyph marks a rune that is not in the font.
const noGlyph = 0xFFFF

// advances are the widths of the runes of the basic multilingual plane, in
// font units; the fonts have no others.
var advances = [2]func() *[0x10000]uint16{
	sync.OnceValue(func() *[0x10000]uint16 { return measure(goregular.TTF) }),
	sync.OnceValue(func() *[0x10000]uint16 { return measure(gobold.TTF) }),
}

const unitsPerEm = 2048

func measure(ttf []byte) *[0x10000]uint16 {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("chart: the embedded font cannot be read: " + err.Error())
	}
	var table [0x10000]uint16
	var buf sfnt.Buffer
	for r := range table {
		table[r] = noGlyph
		glyph, err := f.GlyphIndex(&buf, rune(r))
		if err != nil || glyph == 0 {
			continue
		}
		if advance, err := f.GlyphAdvance(&buf, glyph, fixed.I(unitsPerEm), font.HintingNone); err == nil {
			table[r] = uint16(advance.Round())
		}
	}
	return &table
}

// Width returns the width of a printable text at a font size.
func (w Weight) Width(s string, size float64) float64 {
	table := advances[w]()
	units := 0
	for _, r := range s {
		if r < 0x10000 && table[r] != noGlyph {
			units += int(table[r])
		} else {
			units += unitsPerEm
		}
	}
	return float64(units) * size / unitsPerEm
}

const ellipsis = "…"

// Fit shortens a text to a width if needed. If it cannot be shortened enough,
// the result is "".
func (w Weight) Fit(s string, size, width float64) string {
	if w.Width(s, size) <= width {
		return s
	}
	room := width - w.Width(ellipsis, size)
	end := 0
	for i, r := range s {
		room -= w.Width(string(r), size)
		if room < 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if end == 0 {
		return ""
	}
	return strings.TrimRight(s[:end], " ") + ellipsis
}

// Wrap breaks a printable text into at most this many lines of a width. The
// last line is shortened if there would be more. A word that is wider than a
// line is broken.
func (w Weight) Wrap(s string, size, width float64, most int) []string {
	var lines []string
	line, used := "", 0.0
	space := w.Width(" ", size)
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		wide := w.Width(word, size)
		switch {
		case line == "" && wide <= width:
			line, used = word, wide
		case line != "" && used+space+wide <= width:
			line, used = line+" "+word, used+space+wide
		case line != "":
			lines, line = append(lines, line), ""
			i-- // it starts the next line
		default:
			cut := w.cut(word, size, width)
			lines = append(lines, word[:cut])
			words[i] = word[cut:]
			i--
		}
		if len(lines) == most {
			lines[most-1] = w.Fit(lines[most-1]+" "+strings.Join(words[i+1:], " "), size, width)
			return lines
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut returns how much of a word fits, which is at least one letter.
func (w Weight) cut(word string, size, width float64) int {
	end := 0
	for i, r := range word {
		width -= w.Width(string(r), size)
		if width < 0 && i > 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return end
}

// Replacement is shown for a character that cannot be printed.
const Replacement = '□'

// Printable makes a text safe to print on one line: line breaks and tabs
// become spaces, invisible characters and direction marks are removed, and
// characters that are not in the font become their base letter or
// [Replacement]. exact is false if something was replaced.
func Printable(s string) (_ string, exact bool) {
	if plain(s) {
		return s, true
	}
	table := advances[Regular]()
	has := func(r rune) bool { return r < 0x10000 && table[r] != noGlyph }
	var b strings.Builder
	exact = true
	for _, r := range norm.NFC.String(s) {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		case r != utf8.RuneError && has(r) && !unicode.IsControl(r):
			b.WriteRune(r)
		default:
			exact = false
			if unicode.Is(unicode.Mn, r) {
				continue // a mark on a letter that is shown without it
			}
			base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
			if base == r || !has(base) || unicode.IsControl(base) {
				base = Replacement
			}
			b.WriteRune(base)
		}
	}
	return b.String(), exact
}

// plain reports whether a text is printable ASCII, which is the common case.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
