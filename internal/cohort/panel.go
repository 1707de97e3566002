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
// for a scan to run along memory, few enough to be packed again within
// microseconds when one of them changes, and to be shared out evenly among
// processors.
const panelSize = 512

// panel packs what analytics want of patients with consecutive numbers. What
// is in a panel never changes. Series are unpacked, which takes four times the
// memory: unpacking would be half the time of a scan.
type panel struct {
	number      uint64 // no other panel has it; 0 while it is being made
	heads       []head
	codes       column[string]          // ICD-10, each patient's sorted
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

	// last is what the patient at the end has, until its series are closed.
	last series.Series
}

// panelNumbers counts the panels that were made.
var panelNumbers atomic.Uint64

// head is what a filter looks at first.
type head struct {
	born    drug.Day
	gender  analytics.Gender
	here    bool // else it is a number without a patient
	primary analytics.Primary
	shelf   analytics.Shelf
	// exempt is what leaves the patient outside of the opioid guideline.
	exempt analytics.Exempt
}

// member is a patient in a panel, and the number that it has elsewhere.
type member struct {
	no   int64
	in   *panel
	slot int
}

func (m member) number() int64 { return m.no }

func (p *panel) len() int { return len(p.heads) }

// columns are all that a panel has besides the heads.
func (p *panel) columns() [13]anyColumn {
	return [...]anyColumn{&p.codes, &p.points, &p.lines, &p.others, &p.answers, &p.procedures, &p.medications, &p.sources, &p.doses, &p.overlapped, &p.covered, &p.onsets, &p.marks}
}

func (p *panel) bytes() int64 {
	bytes := int64(cap(p.heads)) * int64(unsafe.Sizeof(head{}))
	for _, c := range p.columns() {
		bytes += c.bytes()
	}
	return bytes
}

// chart is room for what analytics know of a patient.
type chart struct {
	analytics.Patient
	gist analytics.Gist
}

func newChart() *chart {
	c := &chart{}
	c.Gist = &c.gist
	return c
}

// open fills in what filters look at first.
func (p *panel) open(slot int, c *chart) {
	c.Born, c.Gender = p.heads[slot].born, p.heads[slot].gender
	c.Codes = p.codes.of(slot)
	c.Exempt = p.heads[slot].exempt
}

// read fills in the rest.
func (p *panel) read(slot int, c *chart) {
	c.gist.Primary, c.gist.Shelf = p.heads[slot].primary, p.heads[slot].shelf
	c.gist.Track.Points, c.gist.Track.Lines = p.points.of(slot), p.lines.of(slot)
	c.gist.Others = p.others.of(slot)
	c.gist.Answers = p.answers.of(slot)
	c.gist.Interventions = p.procedures.of(slot)
	c.gist.Medications, c.gist.Sources = p.medications.of(slot), p.sources.of(slot)
	c.gist.Doses, c.gist.Overlapped, c.gist.Covered = p.doses.of(slot), p.overlapped.of(slot), p.covered.of(slot)
	c.gist.Onsets = p.onsets.of(slot)
	c.gist.Marks = p.marks.of(slot)
}

// with gives the panel after changes; see changeable. It is the panel itself
// when nothing in it changed, as when a patient got a new telephone number.
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
		if slot := int(m.no - first); slot >= next.len() { // else it is listed twice
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

// equals reports whether a slot of a panel holds the same.
func (m member) equals(p *panel, slot int) bool {
	if m.in.heads[m.slot] != p.heads[slot] {
		return false
	}
	others := p.columns()
	for i, c := range m.in.columns() {
		if !c.equals(m.slot, others[i], slot) {
			return false
		}
	}
	return true
}

// copyFrom appends the slots from up to, but not including, to. It is for a
// panel that nobody else sees yet.
func (p *panel) copyFrom(source *panel, from, to int) {
	if from == to {
		return
	}
	p.heads = append(p.heads, source.heads[from:to]...)
	sources := source.columns()
	for i, c := range p.columns() {
		c.copyFrom(sources[i], from, to)
	}
}

// grow makes room for patients who have in all about what another panel holds.
func (p *panel) grow(like *panel, patients int) {
	p.heads = slices.Grow(p.heads, patients)
	sources := like.columns()
	for i, c := range p.columns() {
		c.grow(sources[i], patients)
	}
}

// fit gives a copy without spare memory.
func (p *panel) fit() *panel {
	next := &panel{number: panelNumbers.Add(1), heads: slices.Clone(p.heads)}
	sources := p.columns()
	for i, c := range next.columns() {
		c.fit(sources[i])
	}
	return next
}

// reset empties the panel and keeps its memory.
func (p *panel) reset() {
	p.heads = p.heads[:0]
	for _, c := range p.columns() {
		c.reset()
	}
	p.last.Reset()
}
