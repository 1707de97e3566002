package cohort

import (
	"context"
	"slices"

	"anodyne/internal/analytics"
	"anodyne/internal/pain"
	"anodyne/internal/pain/series"
	"anodyne/internal/store"
)

// gathering puts members together from the rows that the store reads: patients
// by number, and the years of their series, by number too.
type gathering struct {
	members []member
	spans   []struct{ from, to int } // where in years each member's are
	years   []byte                   // of all members
	codes   int                      // of all members
	at      int                      // the member that the latest year was of
	damaged []int                    // members with a year that cannot be read
	decoded series.Series
	known   map[string]string // codes; most patients share them
}

func (g *gathering) member(m store.Member) {
	next := member{no: m.No, head: head{born: m.Born.DayNumber(), gender: analytics.FoldGender(string(m.Gender)), here: true}}
	pain.StoredHistory(string(m.History)).Codes(func(c pain.Coded) {
		// A condition counts however long ago it was: outcomes are of those
		// who had it too.
		if c.Own() && !slices.Contains(next.codes, c.ICD10Code) {
			next.codes = append(next.codes, g.shared(c.ICD10Code))
		}
	})
	slices.Sort(next.codes)
	g.codes += len(next.codes)
	g.members = append(g.members, next)
	g.spans = append(g.spans, struct{ from, to int }{})
}

// shared gives one copy of a code to all who have it, and lets go of the
// history that it was found in.
func (g *gathering) shared(code string) string {
	if found, ok := g.known[code]; ok {
		return found
	}
	if g.known == nil {
		g.known = map[string]string{}
	}
	code = string([]byte(code))
	g.known[code] = code
	return code
}

func (g *gathering) year(no int64, packed []byte) {
	for g.at < len(g.members) && g.members[g.at].no < no {
		g.at++
	}
	if g.at == len(g.members) || g.members[g.at].no != no {
		return // of no patient
	}
	at := &g.spans[g.at]
	if at.to == 0 {
		at.from = len(g.years)
	}
	g.years = appendYear(g.years, packed)
	at.to = len(g.years)
	if !g.classes(&g.members[g.at], packed) && (len(g.damaged) == 0 || g.damaged[len(g.damaged)-1] != g.at) {
		g.damaged = append(g.damaged, g.at)
	}
}

// classes notes which medicines a year has; not ok when it cannot be read. So
// nothing is in memory that cannot.
func (g *gathering) classes(m *member, packed []byte) (ok bool) {
	s := &g.decoded
	*s = series.Series{Scores: s.Scores[:0], Assessments: s.Assessments[:0], Procedures: s.Procedures[:0], Medications: s.Medications[:0]}
	if s.Decode(packed) != nil {
		return false
	}
	for i := range s.Medications {
		m.classes |= 1 << s.Medications[i].Class
	}
	return true
}

// end gives the members. Those whose series cannot be read get one made from
// their records.
func (g *gathering) end(ctx context.Context, org store.Org) ([]member, error) {
	for i, at := range g.spans {
		g.members[i].series = g.years[at.from:at.to:at.to]
	}
	for _, i := range g.damaged {
		m := &g.members[i]
		years, err := org.RecordedSeries(ctx, m.no)
		if err != nil {
			return nil, err
		}
		m.series, m.classes = nil, 0
		for _, packed := range years {
			m.series = appendYear(m.series, packed)
			g.classes(m, packed)
		}
	}
	return g.members, nil
}
