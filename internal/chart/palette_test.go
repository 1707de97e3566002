package chart

import (
	"math"
	"strings"
	"testing"
)

// luminance is that of WCAG 2.
func luminance(c uint32) float64 {
	channel := func(v uint32) float64 {
		f := float64(v&0xff) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c>>16) + 0.7152*channel(c>>8) + 0.0722*channel(c)
}

func contrast(a, b uint32) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestContrast(t *testing.T) {
	grounds := map[Ink][]Ink{ // what is read, and on what
		Text:       {Surface, FillNone, FillMild, FillModerate, FillSevere, AccentSoft, BandMild, BandModerate, BandSevere},
		Muted:      {Surface, FillNone, BandMild, BandModerate, BandSevere},
		Accent:     {Surface, BandMild, BandModerate, BandSevere},
		Medication: {Surface}, Procedure: {Surface}, Threshold: {Surface},
	}
	for _, theme := range []struct {
		name  string
		color func(Ink) uint32
	}{{"light", func(i Ink) uint32 { return palette[i].light }}, {"dark", func(i Ink) uint32 { return palette[i].dark }}} {
		for ink, on := range grounds {
			for _, ground := range on {
				if c := contrast(theme.color(ink), theme.color(ground)); c < 4.5 {
					t.Errorf("%s: %s on %s is %.2f to 1", theme.name, palette[ink].name, palette[ground].name, c)
				}
			}
		}
		if c := contrast(theme.color(Axis), theme.color(Surface)); c < 3 {
			t.Errorf("%s: the axis is %.2f to 1", theme.name, c)
		}
	}
	if c := contrast(0xffffff, 0x777777); math.Abs(c-4.48) > 0.01 { // a known pair
		t.Errorf("the measure itself is wrong: %g", c)
	}
}

// The fills of severity are also distinguishable in grey, as on a poor
// printer: each is darker than the previous one.
func TestFillsInGrey(t *testing.T) {
	fills := []Ink{FillNone, FillMild, FillModerate, FillSevere}
	for i := 1; i < len(fills); i++ {
		if luminance(palette[fills[i]].light) >= luminance(palette[fills[i-1]].light) {
			t.Errorf("%s is not darker than %s", palette[fills[i]].name, palette[fills[i-1]].name)
		}
	}
	seen := map[Hatch]bool{}
	for _, sign := range severitySigns {
		if seen[sign.hatch] {
			t.Errorf("%s has the hatch of another", sign.name)
		}
		seen[sign.hatch] = true
	}
}

func TestStylesheet(t *testing.T) {
	css := Stylesheet()
	for _, s := range palette[1:] {
		for _, want := range []string{".f-" + s.name + "{fill:var(--chart-" + s.name + ")}", ".s-" + s.name + "{stroke:var(--chart-" + s.name + ")}"} {
			if !strings.Contains(css, want) {
				t.Errorf("there is no %s", want)
			}
		}
		if n := strings.Count(css, "--chart-"+s.name+":"); n != 3 {
			t.Errorf("--chart-%s is set %d times: once light, twice dark", s.name, n)
		}
	}
	if strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("it loads something")
	}
}
