package pain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"", ""}, {"ada lovelace", "ada lovelace"}, {"ADA 100% _x\\", "ada 100% _x\\"},
		{"Zoë Ångström", "zoe angstrom"}, {"Zoe\u0308", "zoe"}, {"Groß", "gross"}, {"GROẞ", "gross"},
		{"Łukasz Đoković", "lukasz dokovic"}, {"Søren Æbelø", "soren aebelo"}, {"Œuvre", "oeuvre"}, {"Þór Guðjohnsen", "thor gudjohnsen"},
		{"IĞDIR ığdır İstanbul", "igdir igdir istanbul"}, {"Nguyễn Thị", "nguyen thi"},
		{"ΟΔΥΣΣΕΥΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ"}, {"Йосиф ЁЖ", "иосиф еж"},
		{"O’Brien‑Smith", "o'brien-smith"}, {"ﬁona", "fiona"}, {"Ｋｉｍ", "kim"}, {"a\u00a0b", "a b"}, {"李小龙", "李小龙"}, {"שָׂרָה", "שרה"},
	} {
		if got := Fold(c.name); got != c.want {
			t.Errorf("Fold(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// Every character folds like its other cases, and folding is final. The one
// mark that has a letter for its upper case (U+0345) goes like all marks.
func TestFoldEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue // a surrogate
		}
		folded := Fold(string(r))
		if again := Fold(folded); again != folded {
			t.Errorf("%U folds to %q, then to %q", r, folded, again)
		}
		if other := unicode.SimpleFold(r); !unicode.In(r, unicode.Mn) && !unicode.In(other, unicode.Mn) && Fold(string(other)) != folded {
			t.Errorf("%U folds to %q, %U to %q", r, folded, other, Fold(string(other)))
		}
	}
}

func TestFoldASCIIAllocates(t *testing.T) {
	for _, c := range []struct {
		name string
		want float64
	}{{"margaret smith", 0}, {"Margaret Smith", 1}} {
		if n := testing.AllocsPerRun(100, func() { Fold(c.name) }); n > c.want {
			t.Errorf("Fold(%q) makes %v allocations", c.name, n)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "Zoë", "GROẞ", "İıſK", "\xff", "a" + strings.Repeat("\u0301", 40) + "\u302e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := Fold(s)
		if again := Fold(folded); again != folded {
			t.Fatalf("Fold(%q) = %q, folded again %q", s, folded, again)
		}
		if !utf8.ValidString(folded) && utf8.ValidString(s) {
			t.Fatalf("Fold(%q) is not UTF-8", s)
		}
	})
}
