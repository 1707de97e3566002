package cohort

import (
	"context"
	"slices"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
)

// gathering builds members from the rows read by the store: patients, and the
// years of their series, both sorted by number.
type gathering struct {
	numbers []int64
	panel         // panel of the members in order
	at      int   // member whose years are being read
	damaged []int // members with an unreadable year
	shared  map[string]string
}

// gatherings are reused, because reading all patients would otherwise produce
// several times their size in garbage.
var gatherings = sync.Pool{New: func() any { return &gathering{shared: map[string]string{}} }}

func newGathering() *gathering {
	g := gatherings.Get().(*gathering)
	g.numbers, g.damaged, g.at = g.numbers[:0], g.damaged[:0], 0
	g.panel.reset()
	clear(g.shared)
	return g
}

// release returns the memory to the pool. The result of end is not part of it.
func (g *gathering) release() { gatherings.Put(g) }

func (g *gathering) member(m patients.Member) {
	g.numbers = append(g.numbers, m.No)
	g.heads = append(g.heads, head{born: m.Born.DayNumber(), gender: analytics.FoldGender(string(m.Gender)), here: true})
	who := &g.heads[len(g.heads)-1]
	from := len(g.codes.items)
	pain.StoredHistory(string(m.History)).Codes(func(c pain.Coded) {
		// A condition counts regardless of when it was: outcomes also cover
		// patients who had it in the past.
		if c.Own() && !slices.Contains(g.codes.items[from:], c.ICD10Code) {
			g.codes.items = append(g.codes.items, g.code(c.ICD10Code))
		}
		if exemption, ok := c.Exemption(); ok {
			who.exempt.Add(exemption, c.Begins())
		}
	})
	slices.Sort(g.codes.items[from:])
	g.closeCodes()
}

// code returns a shared copy of a code, so that the history it came from can
// be freed.
func (g *gathering) code(code string) string {
	if known, ok := g.shared[code]; ok {
		return known
	}
	code = strings.Clone(code)
	g.shared[code] = code
	return code
}

func (g *gathering) year(no int64, packed []byte) {
	for g.at < len(g.numbers) && g.numbers[g.at] < no {
		g.next()
	}
	if g.at == len(g.numbers) || g.numbers[g.at] != no {
		return // belongs to no patient
	}
	if !g.panel.decode(packed) && !slices.Contains(g.damaged, g.at) {
		g.damaged = append(g.damaged, g.at)
	}
}

// next ends the series of the current member.
func (g *gathering) next() {
	g.closeSeries()
	g.at++
}

// end returns the members in their own panel. Unreadable series are rebuilt
// from the records.
func (g *gathering) end(ctx context.Context, org store.Org) ([]member, error) {
	for g.at < len(g.numbers) {
		g.next()
	}
	whole := g.panel.fit()
	members := make([]member, len(g.numbers))
	for i, no := range g.numbers {
		members[i] = member{no, whole, i}
	}
	for _, i := range g.damaged {
		mended, err := mend(ctx, org, members[i])
		if err != nil {
			return nil, err
		}
		members[i] = mended
	}
	return members, nil
}

// mend rebuilds a member's series from the records.
func mend(ctx context.Context, org store.Org, m member) (member, error) {
	years, err := org.RecordedSeries(ctx, m.no)
	if err != nil {
		return m, err
	}
	mended := &panel{heads: []head{m.in.heads[m.slot]}}
	from, to := m.in.span(m.slot)
	mended.codes.copyFrom(&m.in.codes, from[codes], to[codes])
	mended.closeCodes()
	for _, packed := range years {
		mended.decode(packed)
	}
	mended.closeSeries()
	return member{m.no, mended, 0}, nil
}

// decode adds a packed year to the last patient. It adds nothing if the year
// cannot be read.
func (p *panel) decode(packed []byte) (ok bool) {
	// A score takes at least two bytes, an assessment three, and so on.
	// Reserving that much keeps Decode from growing the lists step by step.
	s := series.Series{
		Scores: slices.Grow(p.last.Scores, len(packed)/2), Assessments: slices.Grow(p.last.Assessments, len(packed)/3),
		Procedures: slices.Grow(p.last.Procedures, len(packed)/4), Medications: slices.Grow(p.last.Medications, len(packed)/5),
		Impacts: p.last.Impacts, Screens: p.last.Screens,
	}
	if s.Decode(packed) != nil {
		return false
	}
	p.last = s
	return true
}

// closeSeries ends the series of the last patient and stores the gist.
func (p *panel) closeSeries() {
	g := analytics.Gist{
		Track: analytics.Track{Points: p.points.items, Lines: p.lines.items}, Others: p.others.items, Answers: p.answers.items,
		Interventions: p.procedures.items, Medications: p.medications.items, Sources: p.sources.items, Doses: p.doses.items, Overlapped: p.overlapped.items, Covered: p.covered.items,
		Onsets: p.onsets.items, Marks: p.marks.items,
	}
	analytics.GistOf(&p.last, &g)
	head := &p.heads[p.closed]
	head.primary, head.shelf = g.Primary, *g.Shelf
	p.points.items, p.lines.items, p.others.items, p.answers.items = g.Track.Points, g.Track.Lines, g.Others, g.Answers
	p.procedures.items, p.medications.items, p.sources.items = g.Interventions, g.Medications, g.Sources
	p.doses.items, p.overlapped.items, p.covered.items, p.onsets.items, p.marks.items = g.Doses, g.Overlapped, g.Covered, g.Onsets, g.Marks
	end := &p.ends[p.closed]
	for i, c := range p.columns() {
		if i != codes {
			end[i] = c.len()
		}
	}
	p.closed++
	p.last.Reset()
}
