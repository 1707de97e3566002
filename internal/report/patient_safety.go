package report

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain/summary"
)

const (
	safetyHead  = 18.0
	safetyGap   = 1.2  // between two flags
	safetyInset = 62.0 // of the text of a flag
	safetyWidth = fullWidth - 20 - safetyInset
	safetyLines = 4 // per flag
)

// asks reports whether a flag asks for review. Being outside the guideline's
// scope only affects how the other flags are read.
func asks(f *summary.Flag) bool { return is(f.Active) && f.Flag != "out_of_guideline_scope" }

// review returns the flags to show: those that ask for review, the undecided
// ones and notes. The rest are named in one line.
func (p *patientPages) review() (lines []summary.Flag, quiet string) {
	var open, notes []summary.Flag
	var absent, unasked []string
	for _, f := range p.Summary.Flags {
		switch {
		case asks(&f):
			lines = append(lines, f)
		case is(f.Active):
			notes = append(notes, f)
		case f.Active != nil:
			absent = append(absent, figure.Words(f.Flag))
		case f.Flag == "phq9_item9":
			unasked = append(unasked, figure.Words(f.Flag))
		default:
			open = append(open, f)
		}
	}
	if len(absent) > 0 {
		quiet = "Not found: " + strings.Join(absent, "; ") + ". "
	}
	if len(unasked) > 0 {
		quiet += "Never asked: " + strings.Join(unasked, "; ") + "."
	}
	return slices.Concat(lines, open, notes), quiet
}

func (p *patientPages) safetyHeight() float64 {
	lines, quiet := p.review()
	height := safetyHead + 6
	for i := range lines {
		height += blockHeight(safetyWidth, figure.Flag(&lines[i]), body, safetyLines) + safetyGap
	}
	if len(lines) == 0 {
		height += bodySize * lineGap
	}
	if quiet != "" {
		height += blockHeight(fullWidth-20, quiet, small, 2)
	}
	return height
}

// safety draws the box of flags for review.
func (p *patientPages) safety(y float64) {
	lines, quiet := p.review()
	title, ground, edge := "Safety", chart.FillNone, chart.Axis
	if len(lines) > 0 && asks(&lines[0]) {
		title, ground, edge = "Safety: please review", chart.BandSevere, chart.Threshold
	}
	p.panel(margin, y, fullWidth, p.safetyHeight(), ground, edge)
	p.text(margin+10, y+13, title, strong)
	y += safetyHead
	if len(lines) == 0 {
		p.text(margin+10, y+bodySize, "Nothing to review.", body)
		y += bodySize * lineGap
	}
	for _, f := range lines {
		state, look := "REVIEW", strong
		switch {
		case f.Active == nil:
			state, look = "NOT KNOWN", caption
		case !asks(&f):
			state, look = "NOTE", caption
		}
		p.text(margin+10, y+bodySize*0.9, state, look)
		y += p.block(margin+10+safetyInset, y, safetyWidth, figure.Flag(&f), body, safetyLines) + safetyGap
	}
	if quiet != "" {
		p.block(margin+10, y, fullWidth-20, quiet, small, 2)
	}
}
