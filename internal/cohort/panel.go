package cohort

import (
	"slices"
	"sort"
	"sync/atomic"
	"unsafe"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// panelSize is the number of patients packed together for analytics: enough
// for a scan to run along memory, and few enough to be repacked within
// microseconds when one of them changes, and to be distributed evenly over
// CPUs.
const panelSize = 512

// panel packs the data of patients with consecutive numbers that analytics
// use. It is immutable. Series are stored unpacked, which takes four times the
// memory, because unpacking would take half the time of a scan.
type panel struct {
	number      uint64 // unique; 0 while it is being built
	heads       []head
	ends        []ends                  // of the patients with these heads
	codes       column[string]          // ICD-10 codes, sorted for each patient
	points      column[analytics.Point] // scores of the primary outcome
	lines       column[analytics.Line]
	others      column[series.Score] // all other scores
	answers     column[analytics.Answer]
	procedures  column[analytics.Intervention]
	medications column[analytics.Medication]
	sources     column[analytics.Source] // of opioids
	doses       column[drug.Dose]
	overlapped  column[drug.Dose]
	covered     column[drug.Span]
	onsets      column[analytics.Onset]
	marks       column[analytics.Mark]

	// closed is the number of patients with a closed series while a panel is
	// built, and last is the data of the next one.
	closed int
	last   series.Series
}

// panelNumbers counts the panels created.
var panelNumbers atomic.Uint64

// head is what a filter checks first.
type head struct {
	born    drug.Day
	gender  analytics.Gender
	here    bool // otherwise it is a number without a patient
	primary analytics.Primary
	shelf   analytics.Shelf
	// exempt is what excludes the patient from the opioid guideline.
	exempt analytics.Exempt
}

// member is a patient in a panel, with its number.
type member struct {
	no   int64
	in   *panel
	slot int
}

func (m member) number() int64 { return m.no }

func (p *panel) len() int { return len(p.heads) }

// ends holds where a patient's items end in each column. They are stored
// together because every scan uses most of them.
type ends [columnCount]uint32

// The columns of a panel, in the order of columns.
const (
	codes = iota
	points
	lines
	others
	answers
	procedures
	medications
	sources
	doses
	overlapped
	covered
	onsets
	marks
	columnCount
)

// columns returns all columns of a panel.
func (p *panel) columns() [columnCount]anyColumn {
	return [...]anyColumn{&p.codes, &p.points, &p.lines, &p.others, &p.answers, &p.procedures, &p.medications, &p.sources, &p.doses, &p.overlapped, &p.covered, &p.onsets, &p.marks}
}

func (p *panel) bytes() int64 {
	bytes := int64(cap(p.heads))*int64(unsafe.Sizeof(head{})) + int64(cap(p.ends))*int64(unsafe.Sizeof(ends{}))
	for _, c := range p.columns() {
		bytes += c.bytes()
	}
	return bytes
}

// chart is reusable memory for the data of a patient.
type chart struct {
	analytics.Patient
	gist analytics.Gist
}

func newChart() *chart {
	c := &chart{}
	c.Gist = &c.gist
	return c
}

// open sets what filters check first.
func (p *panel) open(slot int, c *chart) {
	c.Born, c.Gender = p.heads[slot].born, p.heads[slot].gender
	from, to := p.span(slot)
	c.Codes = p.codes.between(from[codes], to[codes])
	c.Exempt = p.heads[slot].exempt
}

// read sets the rest.
func (p *panel) read(slot int, c *chart) {
	from, to := p.span(slot)
	c.gist.Primary, c.gist.Shelf = p.heads[slot].primary, &p.heads[slot].shelf
	c.gist.Track.Points, c.gist.Track.Lines = p.points.between(from[points], to[points]), p.lines.between(from[lines], to[lines])
	c.gist.Others = p.others.between(from[others], to[others])
	c.gist.Answers = p.answers.between(from[answers], to[answers])
	c.gist.Interventions = p.procedures.between(from[procedures], to[procedures])
	c.gist.Medications, c.gist.Sources = p.medications.between(from[medications], to[medications]), p.sources.between(from[sources], to[sources])
	c.gist.Doses, c.gist.Overlapped = p.doses.between(from[doses], to[doses]), p.overlapped.between(from[overlapped], to[overlapped])
	c.gist.Covered = p.covered.between(from[covered], to[covered])
	c.gist.Onsets = p.onsets.between(from[onsets], to[onsets])
	c.gist.Marks = p.marks.between(from[marks], to[marks])
}

// span returns the range of a slot's items in each column.
func (p *panel) span(slot int) (from, to *ends) {
	if slot == 0 {
		return &noEnds, &p.ends[0]
	}
	return &p.ends[slot-1], &p.ends[slot]
}

var noEnds ends

// closeCodes ends the codes of the current patient; the series is closed
// later.
func (p *panel) closeCodes() { p.ends = append(p.ends, ends{codes: p.codes.len()}) }

// with returns the panel with changes applied; see changeable. It returns the
// panel itself if nothing in it changed, for example after a new telephone
// number.
func (p *panel) with(changed []member, first int64) (next *panel, ok bool) {
	known := sort.Search(len(changed), func(i int) bool { return changed[i].no >= first+int64(p.len()) })
	edited := slices.DeleteFunc(slices.Clone(changed[:known]), func(m member) bool { return m.equals(p, int(m.no-first)) })
	added := changed[known:]
	if len(edited) == 0 && len(added) == 0 {
		return p, true
	}
	next = &panel{number: panelNumbers.Add(1)}
	next.grow(p, p.len()+len(added))
	for _, m := range edited {
		if slot := int(m.no - first); slot >= next.len() { // otherwise it is listed twice
			next.copyFrom(p, next.len(), slot)
			next.copyFrom(m.in, m.slot, m.slot+1)
		}
	}
	next.copyFrom(p, next.len(), p.len())
	for _, m := range added {
		switch free := first + int64(next.len()); {
		case m.no > free:
			return nil, false
		case m.no == free:
			next.copyFrom(m.in, m.slot, m.slot+1)
		}
	}
	return next, true
}

// equals reports whether a slot of a panel holds the same data.
func (m member) equals(p *panel, slot int) bool {
	if m.in.heads[m.slot] != p.heads[slot] {
		return false
	}
	theirs := p.columns()
	from, to := m.in.span(m.slot)
	theirFrom, theirTo := p.span(slot)
	for i, c := range m.in.columns() {
		if !c.equals(from[i], to[i], theirs[i], theirFrom[i], theirTo[i]) {
			return false
		}
	}
	return true
}

// copyFrom appends the slots from up to, but not including, to. The panel must
// not be shared yet.
func (p *panel) copyFrom(source *panel, from, to int) {
	if from == to {
		return
	}
	p.heads = append(p.heads, source.heads[from:to]...)
	theirs := source.columns()
	start, _ := source.span(from)
	_, end := source.span(to - 1)
	var shift ends // may wrap around, and then wraps back
	for i, c := range p.columns() {
		shift[i] = c.len() - start[i]
		c.copyFrom(theirs[i], start[i], end[i])
	}
	for _, row := range source.ends[from:to] {
		for i := range row {
			row[i] += shift[i]
		}
		p.ends = append(p.ends, row)
	}
}

// grow reserves space for patients with about as much data as another panel.
func (p *panel) grow(like *panel, patients int) {
	p.heads, p.ends = slices.Grow(p.heads, patients), slices.Grow(p.ends, patients)
	theirs := like.columns()
	for i, c := range p.columns() {
		c.grow(theirs[i])
	}
}

// fit returns a copy without spare capacity.
func (p *panel) fit() *panel {
	next := &panel{number: panelNumbers.Add(1), heads: slices.Clone(p.heads), ends: slices.Clone(p.ends)}
	theirs := p.columns()
	for i, c := range next.columns() {
		c.fit(theirs[i])
	}
	return next
}

// reset empties the panel and keeps its memory.
func (p *panel) reset() {
	p.heads, p.ends, p.closed = p.heads[:0], p.ends[:0], 0
	for _, c := range p.columns() {
		c.reset()
	}
	p.last.Reset()
}
