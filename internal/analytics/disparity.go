package analytics

// The dimensions by which patients are grouped.
const (
	byGender = iota
	byAge
	dimensions
)

var (
	dimensionNames = [dimensions]string{"gender", "age_band"}
	groupNames     = [dimensions][]string{genderNames[:], ageBandNames}
	measureNames   = [measures]string{"severe_pain", "opioid_exposure", "long_term_opioid", "ge_50", "follow_up_gap"}
)

// comparisons are the counts by which groups are compared.
type comparisons struct {
	everybody, present [dimensions][]*cell
	totals             [measures]totals
}

// totals are a measure's counts over all groups. open counts undetermined
// patients; it is nil if there can be none.
type totals struct{ yes, n, open *cell }

// groups enters the groups of a whole.
func (l *ledger) groups(s *strata, whole *cell) (cells [dimensions][]*cell) {
	genders, ages := s.genders(), s.ages()
	cells[byGender], cells[byAge] = l.cellsOf(genders[:]), l.cellsOf(ages[:])
	for _, parts := range cells {
		l.sum(whole, parts...)
	}
	return cells
}

// printDisparities prints the groups of each measure and dimension, compared
// with the largest.
func (t *PopulationTally) printDisparities(l *ledger, c *comparisons, z *standardizer) []Disparity {
	out := make([]Disparity, 0, measures*dimensions)
	for m := range measures {
		rates, total := &t.measures[m], c.totals[m]
		yes := l.groups(&rates.yes, total.yes)
		var n [dimensions][]*cell
		switch m {
		case gap:
			n = c.everybody
		default:
			n = l.groups(&rates.n, total.n)
			for d := range n {
				for i := range n[d] {
					l.within(c.present[d][i], n[d][i])
				}
			}
		}
		var open [dimensions][]*cell
		if total.open != nil {
			open = l.groups(&rates.open, total.open)
		}
		for d := range dimensions {
			for i := range open[d] {
				if m == atLeast50 {
					l.within(c.present[d][i], open[d][i])
				} else {
					l.sum(c.present[d][i], n[d][i], open[d][i])
				}
			}
			out = append(out, Disparity{Measure: measureNames[m], Definition: defDisparity, Dimension: dimensionNames[d]})
			l.disparity(&out[len(out)-1], groupNames[d], yes[d], n[d], open[d], func(i int) Standardized { return z.group(d, i, rates) })
		}
	}
	return out
}

func (l *ledger) disparity(into *Disparity, names []string, yes, n, open []*cell, standardized func(int) Standardized) {
	reference := 0
	for i := range n {
		l.within(n[i], yes[i])
		if names[i] != "unknown" && n[i].value > n[reference].value {
			reference = i
		}
	}
	l.after(func() {
		into.Groups = make([]DisparityGroup, len(names))
		if n[reference].value > 0 {
			into.Reference = &names[reference]
		}
		shown := func(i int) bool { return !yes[i].hidden && !n[i].hidden }
		for i, name := range names {
			g := DisparityGroup{Group: name, Count: yes[i].shown(), N: n[i].shown(), Suppressed: !shown(i), Standardized: Standardized{Reason: new(reasonHidden)}}
			if shown(i) {
				g.Proportion, g.Percent, g.CI95 = share(yes[i].value, n[i].value)
				g.Standardized = standardized(i)
			}
			if open != nil {
				g.Undetermined, g.Suppressed = open[i].shown(), g.Suppressed || open[i].hidden
			}
			if i != reference && shown(i) && shown(reference) && n[i].value >= minToCompare && n[reference].value >= minToCompare {
				g.compare(yes[i].value, n[i].value, yes[reference].value, n[reference].value)
			}
			into.Groups[i] = g
		}
	})
}

// compare compares the group with the reference. There is no ratio to zero.
func (g *DisparityGroup) compare(count, n, refCount, refN int) {
	difference, ci := Newcombe(count, n, refCount, refN)
	g.Difference, g.DiffCI95 = rounded(difference, 4), ci.rounded()
	if refCount > 0 {
		g.Ratio = rounded(float64(count)*float64(refN)/(float64(n)*float64(refCount)), 4)
	}
}
