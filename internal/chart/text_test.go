package chart

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		exact          bool
	}{
		{"plain", "John Doe", "John Doe", true},
		{"accents", "Łukasz Núñez Ünal", "Łukasz Núñez Ünal", true},
		{"greek", "Παπαδοπούλου", "Παπαδοπούλου", true},
		{"cyrillic", "Ковалёва", "Ковалёва", true},
		{"accents apart", "Jose\u0301", "José", true},
		{"vietnamese", "Nguyễn", "Nguyen", false},
		{"mark without a letter of its own", "q\u0301", "q", false},
		{"chinese", "李明", "□□", false},
		{"emoji", "a😀b", "a□b", false},
		{"right to left", "abc\u202edef\u200f\u2066g\u2069", "abcdefg", true},
		{"invisible", "a\u200b\ufeff\u00adb\ufe0f", "ab", true},
		{"lines", "a\nb\tc\r\nd", "a b c  d", true},
		{"control", "a\x00b\x1bc\u0085d", "a□b□c d", false},
		{"not UTF-8", "a\xffb", "a□b", false},
		{"replacement character", "a\ufffdb", "a□b", false},
		{"markup", "<script>", "<script>", true},
		{"nothing", "", "", true},
	} {
		if got, exact := Printable(c.in); got != c.want || exact != c.exact {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, exact, c.want, c.exact)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("e\u0301\u0302 \u202e \xff\xfe")
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := Printable(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if advances[Regular]()[r&0xffff] == noGlyph || r > 0xffff || advances[Bold]()[r] == noGlyph {
				t.Fatalf("%q has %U, which is in no font", got, r)
			}
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q has %U", got, r)
			}
		}
		if again, exact := Printable(got); again != got || !exact {
			t.Fatalf("%q becomes %q the second time", got, again)
		}
		const size, width = 10, 60
		for _, w := range []Weight{Regular, Bold} {
			if short := w.Fit(got, size, width); w.Width(short, size) > width {
				t.Fatalf("%q is %g wide", short, w.Width(short, size))
			}
			lines := w.Wrap(got, size, width, 1000)
			for _, line := range lines {
				if w.Width(line, size) > width+1e-9 {
					t.Fatalf("the line %q is %g wide", line, w.Width(line, size))
				}
			}
			if len(lines) < 1000 && strings.ReplaceAll(strings.Join(lines, ""), " ", "") != strings.ReplaceAll(got, " ", "") {
				t.Fatalf("%q is broken into %q", got, lines)
			}
			if few := w.Wrap(got, size, width, 2); len(few) > 2 {
				t.Fatalf("%d lines", len(few))
			}
		}
	})
}

func TestWrap(t *testing.T) {
	const size = 10
	width := Regular.Width("one two", size)
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"one two", 9, "one two"},
		{"one two three", 9, "one two|three"},
		{"one two three four five six", 2, "one two|three…"},
		{"", 9, ""},
		{"   ", 9, ""},
		{"aaaaaaaaaaaaaaaa", 9, "aaaaaa|aaaaaa|aaaa"},
		{"one aaaaaaaaaaaaaaaa two", 9, "one|aaaaaa|aaaaaa|aaaa|two"},
	} {
		if got := strings.Join(Regular.Wrap(c.in, size, width, c.most), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// Another reader of the fonts measures the same, but for its rounding.
func TestWidth(t *testing.T) {
	pdf := fpdf.New("P", "pt", "A4", "")
	AddFonts(pdf)
	pdf.AddPage()
	for _, text := range []string{"", "0", "Hello, world", "Παπαδοπούλου", "Ковалёва", "≥ 50 MME", "□…–−"} {
		for _, w := range []Weight{Regular, Bold} {
			SetFont(pdf, w, 10)
			if got, want := w.Width(text, 10), pdf.GetStringWidth(text); math.Abs(got-want) > 0.1 {
				t.Errorf("%q is %g wide, want %g", text, got, want)
			}
		}
	}
}
