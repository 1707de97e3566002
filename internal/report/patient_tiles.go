package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain/summary"
)

// tile is a key figure.
type tile struct{ title, value, line, note string }

// tileRow draws tiles side by side.
func (s *sheet) tileRow(tiles []tile) {
	const gap, height = 8.0, 62.0
	width := (fullWidth - gap*float64(len(tiles)-1)) / float64(len(tiles))
	for i, t := range tiles {
		x := margin + float64(i)*(width+gap)
		s.panel(x, s.y, width, height, chart.FillNone, chart.Grid)
		inner := width - 14
		s.shrunk(x+7, s.y+12, inner, t.title, caption)
		s.shrunk(x+7, s.y+31, inner, t.value, set{size: 17, ink: chart.Text, weight: chart.Bold})
		s.shrunk(x+7, s.y+44, inner, t.line, set{size: smallSize + 0.4, ink: chart.Text})
		s.shrunk(x+7, s.y+55, inner, t.note, small)
	}
	s.y += height + 10
}

func (p *patientPages) tiles() {
	p.tileRow([]tile{p.painTile(), p.changeTile(), p.pegTile(), p.mmeTile()})
}

func (p *patientPages) painTile() tile {
	sum := &p.Summary.Pain
	if sum.Latest == nil {
		return tile{"LATEST PAIN", figure.None, "no comparable score", ""}
	}
	title := "LATEST PAIN"
	if sum.Aspect != nil {
		title = "LATEST " + strings.ToUpper(figure.Words(*sum.Aspect)) + " PAIN"
	}
	note := "on " + dayPart(sum.Latest.RecordedAt)
	if len(p.drawn.Pain.Points) > 1 {
		best := slices.MinFunc(p.drawn.Pain.Points, func(a, b chart.PainPoint) int { return cmp.Compare(a.Score, b.Score) })
		note += ", best " + figure.Num(&best.Score)
	}
	return tile{title, figure.Num(sum.Latest.Score) + " of 10", sum.Latest.Band, note}
}

func (p *patientPages) changeTile() tile {
	sum := &p.Summary.Pain
	t := tile{title: "CHANGE FROM BASELINE", value: figure.None}
	if sum.Baseline == nil {
		t.line = "no baseline"
		return t
	}
	t.note = fmt.Sprintf("baseline %s on %s", figure.Num(sum.Baseline.Score), sum.Baseline.IndexDate)
	c := sum.Change
	if c == nil {
		t.line = "no score after the baseline"
		return t
	}
	t.value = figure.Signed(c.Points)
	if c.Percent != nil {
		t.value += fmt.Sprintf(" (%s %%)", figure.Signed(c.Percent))
	}
	switch {
	case c.Percent == nil:
		t.line = "no percentage: baseline is 0"
	case is(c.Responder50):
		t.line = "responder: 50 % or more"
	case is(c.Responder30):
		t.line = "responder: 30 % or more"
	case is(c.Worsened30):
		t.line = "worse by 30 % or more"
	default:
		t.line = "non-responder (under 30 %)"
	}
	if c.LowBaseline && c.Percent != nil {
		t.note = fmt.Sprintf("low baseline (%s): %% is misleading", figure.Num(sum.Baseline.Score))
	}
	return t
}

func is(b *bool) bool { return b != nil && *b }

func (p *patientPages) pegTile() tile {
	for i := range p.Summary.Instruments {
		in := &p.Summary.Instruments[i]
		if in.Instrument != "peg" {
			continue
		}
		t := tile{"PEG", figure.None, "cannot be scored: " + in.Status, "on " + dayPart(in.RecordedAt)}
		if in.Score != nil {
			t.value, t.line = figure.Num(in.Score)+" of 10", "first one"
		}
		if in.Change != nil {
			t.line = figure.Signed(in.Change) + ", no important change"
			if is(in.MCIDMet) {
				t.line = figure.Signed(in.Change) + ", an important change"
			}
			t.note = dayPart(in.Previous.RecordedAt) + " to " + dayPart(in.RecordedAt)
		}
		return t
	}
	return tile{"PEG", figure.None, "never answered", ""}
}

func (p *patientPages) mmeTile() tile {
	m := &p.Summary.MME
	t := tile{title: "MME A DAY", value: "not known", line: "dose not counted"}
	if m.CurrentBand != nil {
		t.line = "band " + bandWords(*m.CurrentBand)
	}
	if m.Current != nil {
		t.value = figure.Num(m.Current)
		switch {
		case *m.CurrentBand == summary.UnknownBand:
			t.value = "≥ " + t.value
		case *m.Current == 0:
			t.line = "no current opioid"
		}
	}
	if m.Incomplete {
		t.line += ", incomplete"
	}
	if m.Peak != nil {
		t.note = "peak " + figure.Num(m.Peak) + " since " + m.From
	}
	return t
}

// bandWords returns an MME band as printed.
func bandWords(band string) string {
	return strings.NewReplacer(">=", "≥ ", "-<", " to < ", ">0", "> 0").Replace(band)
}

// dayPart returns the date of an RFC 3339 time.
func dayPart(at string) string { return at[:min(len(at), len("YYYY-MM-DD"))] }
