package chart

import (
	"fmt"
	"strings"
)

// Ink is a colour by purpose, so that a page can be light or dark.
type Ink uint8

// The inks. None draws nothing.
const (
	None Ink = iota
	Surface
	Text
	Muted
	Axis
	Grid
	Accent
	AccentSoft
	BandMild
	BandModerate
	BandSevere
	FillNone
	FillMild
	FillModerate
	FillSevere
	Medication
	Procedure
	Threshold
	inks
)

// shade is an ink on a light and on a dark background. The hues are
// distinguishable with the common kinds of colour blindness, and a test
// verifies the contrast: 4.5 to 1 for text, 3 to 1 for graphics.
type shade struct {
	name        string
	light, dark uint32
}

var palette = [inks]shade{
	None:         {"none", 0, 0},
	Surface:      {"surface", 0xffffff, 0x10171e},
	Text:         {"text", 0x1b2733, 0xe6edf3},
	Muted:        {"muted", 0x55636f, 0xa3b1be},
	Axis:         {"axis", 0x7d8a96, 0x77868f},
	Grid:         {"grid", 0xdfe5ea, 0x2b3640},
	Accent:       {"accent", 0x0b5fa5, 0x6cb6ff},
	AccentSoft:   {"accent-soft", 0xd3e5f5, 0x1c3a57},
	BandMild:     {"band-mild", 0xf3f8f1, 0x152019},
	BandModerate: {"band-moderate", 0xfdf6e3, 0x262114},
	BandSevere:   {"band-severe", 0xfbebe6, 0x2c1a18},
	FillNone:     {"fill-none", 0xf4f6f8, 0x1b252e},
	FillMild:     {"fill-mild", 0xc5dff2, 0x1f4a6b},
	FillModerate: {"fill-moderate", 0xf3cf7f, 0x6b4e0f},
	FillSevere:   {"fill-severe", 0xe08e79, 0x8a3423},
	Medication:   {"medication", 0x6d3a9c, 0xc79bf0},
	Procedure:    {"procedure", 0xa84300, 0xf0a067},
	Threshold:    {"threshold", 0xa3261b, 0xff8f82},
}

// RGB returns the ink on paper.
func (i Ink) RGB() (r, g, b int) {
	c := palette[i].light
	return int(c >> 16), int(c >> 8 & 0xff), int(c & 0xff)
}

func hex(c uint32) string { return fmt.Sprintf("#%06x", c) }

// Stylesheet returns the CSS for the colours of the charts on a page. Without
// it, they are drawn as on paper. A page may set the variables itself, or set
// data-theme to light or dark on the root element; otherwise the system
// setting applies.
func Stylesheet() string {
	var b strings.Builder
	vars := func(dark bool) {
		for _, s := range palette[1:] {
			c := s.light
			if dark {
				c = s.dark
			}
			fmt.Fprintf(&b, "--chart-%s:%s;", s.name, hex(c))
		}
	}
	b.WriteString(":root,:root[data-theme=light]{")
	vars(false)
	b.WriteString("}\n@media (prefers-color-scheme:dark){:root:not([data-theme=light]){")
	vars(true)
	b.WriteString("}}\n:root[data-theme=dark]{")
	vars(true)
	b.WriteString("}\n.chart{max-width:100%;height:auto}\n")
	for _, s := range palette[1:] {
		fmt.Fprintf(&b, ".chart .f-%[1]s{fill:var(--chart-%[1]s)}.chart .s-%[1]s{stroke:var(--chart-%[1]s)}\n", s.name)
	}
	return b.String()
}
