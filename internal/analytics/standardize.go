package analytics

import "math"

// Standardization holds rates directly standardised by gender and age band,
// that is, weighted as if the patients had the composition of a standard
// population.
type Standardization struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	// Standard is "organization", or "given" if the caller set the weights.
	Standard string            `json:"standard"`
	Strata   []StandardStratum `json:"strata"` // with their weights; empty if hidden
	// Suppressed is set if showing the organisation's composition would reveal
	// small groups of patients. No standardised rate is given then either.
	Suppressed bool               `json:"suppressed"`
	Rates      []StandardizedRate `json:"rates"`
}

// StandardStratum is one stratum of the standard population. A null gender or
// age band stands for all of them.
type StandardStratum struct {
	Gender  *string `json:"gender"`
	AgeBand *string `json:"age_band"`
	// Count is the number of patients of the organisation, or null if the
	// weights were given.
	Count  *int    `json:"count"`
	Weight float64 `json:"weight"` // as a fraction of 1
}

// StandardizedRate is a rate, both crude and standardised. Reason is why the
// standardised rate is missing.
type StandardizedRate struct {
	Measure      string     `json:"measure"`
	Crude        Proportion `json:"crude"`
	Standardized *float64   `json:"standardized"`
	CI95         *Bounds    `json:"ci95"`
	Reason       *string    `json:"reason"`
	// EmptyStrata lists the strata that have a weight but no patients; it is empty
	// under min_cell_size.
	EmptyStrata []string `json:"empty_strata"`
}

// Standardized is the standardised rate of a group, or the reason why there is
// none.
type Standardized struct {
	Rate   *float64 `json:"rate"`
	CI95   *Bounds  `json:"ci95"`
	Reason *string  `json:"reason"`
}

// standardLabel is shown with all standardised rates.
const standardLabel = "Directly standardised: the rate that would be expected with the genders and ages of the standard population. Use it to compare groups; it is not the rate of any actual group."

// strata counts patients by gender and age band.
type strata [genders][ageBands]int

func (s *strata) add(who *groups) { s[who.gender][who.age]++ }

func (s *strata) merge(o *strata) {
	for g := range s {
		addAll(s[g][:], o[g][:])
	}
}

// genders and ages return the counts by one of the two.
func (s *strata) genders() (counts [genders]int) {
	for g := range s {
		for _, n := range s[g] {
			counts[g] += n
		}
	}
	return counts
}

func (s *strata) ages() (counts [ageBands]int) {
	for g := range s {
		addAll(counts[:], s[g][:])
	}
	return counts
}

func (s *strata) sum() (n int) {
	for g := range s {
		for _, cell := range s[g] {
			n += cell
		}
	}
	return n
}

// The measures that are standardised in addition to those by which groups are
// compared.
const (
	atLeast90 = iota
	benzoOverlap
	moreMeasures
)

var moreNames = [moreMeasures]string{defAtLeast90, defBenzo}

// PassBy counts a patient whom the filter does not admit, as part of the
// standard population: the whole organisation, restricted to a requested
// gender and age.
func (t *PopulationTally) PassBy(p *Patient) {
	if t.filter.person(p) {
		who := t.groupsOf(p)
		t.others.add(&who)
	}
}

func (t *PopulationTally) groupsOf(p *Patient) groups {
	who := groups{gender: min(p.Gender, UnknownGender)}
	for _, by := range t.bornBy { // cumulative: each includes all before it
		who.age += int(uint64(int64(p.Born)-int64(by)-1) >> 63)
	}
	return who
}

// standardizer prints standardised rates.
type standardizer struct {
	*standard
	shares *[genders][ageBands]float64 // nil without patients
	least  int
	cells  []*cell // strata of the organisation
	few    bool    // one of them reveals a small count
}

func (z *standardizer) small(n int) bool { return n > 0 && n < z.least }

func (z *standardizer) hidden() bool {
	for _, c := range z.cells {
		if c.hidden {
			return true
		}
	}
	return z.few
}

// standardize enters the composition of the standard population.
func (t *PopulationTally) standardize(l *ledger, out *Standardization, patients *cell, c *comparisons) *standardizer {
	s := &t.params.standard
	population := t.everybody
	population.merge(&t.others)
	organisation := s.fold(&population)
	z := &standardizer{standard: s, shares: s.shares(&organisation), least: l.min}
	*out = Standardization{Definition: defStandardized, Label: standardLabel, Standard: "organization", Strata: []StandardStratum{}}
	if s.given != nil {
		out.Standard = "given"
	} else {
		z.enter(l, &organisation, population.sum(), patients, c)
	}
	l.after(func() {
		if out.Suppressed = z.hidden(); out.Suppressed || z.shares == nil {
			return
		}
		for g := range s.rows() {
			for a := range s.columns() {
				stratum := StandardStratum{Weight: *rounded(z.shares[g][a], 6)}
				stratum.Gender, stratum.AgeBand = s.names(g, a)
				if s.given == nil {
					stratum.Count = &organisation[g][a]
				}
				out.Strata = append(out.Strata, stratum)
			}
		}
	})
	return z
}

// enter enters the strata of the organisation, which are printed unless one is
// so small that none may be.
func (z *standardizer) enter(l *ledger, of *strata, total int, patients *cell, c *comparisons) {
	rows, columns := z.rows(), z.columns()
	for g := range rows {
		for a := range columns {
			if z.small(of[g][a]) {
				z.few = true
			}
		}
	}
	if z.few {
		return
	}
	all := patients
	same := total == patients.value // all patients match the filters
	if !same {
		all = l.cell(total)
		l.within(all, patients)
	}
	var byRow, byColumn [][]*cell
	for range columns {
		byColumn = append(byColumn, nil)
	}
	for g := range rows {
		var row []*cell
		for a := range columns {
			one := l.cell(of[g][a])
			z.cells, row, byColumn[a] = append(z.cells, one), append(row, one), append(byColumn[a], one)
		}
		byRow = append(byRow, row)
	}
	l.sum(all, z.cells...)
	margin := func(parts []*cell, group *cell) {
		if same {
			l.sum(group, parts...)
			return
		}
		n := 0
		for _, p := range parts {
			n += p.value
		}
		whole := l.silent(n)
		l.sum(whole, parts...)
		l.within(whole, group)
	}
	if !z.noGender {
		for g, row := range byRow {
			margin(row, c.everybody[byGender][g])
		}
	}
	if !z.noAge {
		for a, column := range byColumn {
			margin(column, c.everybody[byAge][a])
		}
	}
}

// rates prints all standardised rates.
func (z *standardizer) rates(l *ledger, t *PopulationTally, out *Population) {
	crude := [measures + moreMeasures]*Proportion{nil, &out.Opioids.Exposure, &out.Opioids.LongTerm, &out.Opioids.AtLeast50, &out.FollowUpGap.Gap, &out.Opioids.AtLeast90, &out.Opioids.BenzodiazepineOverlap}
	l.after(func() {
		list := make([]StandardizedRate, 0, len(crude))
		for m, of := range crude {
			rates, name := &t.more[max(0, m-measures)], ""
			if m < measures {
				rates, name = &t.measures[m], measureNames[m]
			} else {
				name = moreNames[m-measures]
			}
			if m == severePain {
				of = out.Severity.severe()
			}
			r := StandardizedRate{Measure: name, Crude: *of, EmptyStrata: []string{}}
			if of.Count == nil || of.N == nil || z.hidden() {
				r.Reason = new(reasonHidden)
			} else {
				r.fill(z, &rates.yes, &rates.n)
			}
			list = append(list, r)
		}
		out.Standardized.Rates = list
	})
}

func (r *StandardizedRate) fill(z *standardizer, yes, n *strata) {
	if z.shares == nil {
		r.Reason = new(reasonNobody)
		return
	}
	foldedYes, foldedN := z.fold(yes), z.fold(n)
	var w weighing
	for g := range z.shares {
		for a, share := range z.shares[g] {
			if share > 0 && foldedN[g][a] == 0 && z.least <= 1 {
				r.EmptyStrata = append(r.EmptyStrata, z.label(g, a))
			}
			w.add(share, foldedYes[g][a], foldedN[g][a], z)
		}
	}
	r.Standardized, r.CI95, r.Reason = w.result()
}

// group returns the rate of a gender or an age band, standardised by the
// other.
func (z *standardizer) group(d, i int, rates *rates) (s Standardized) {
	switch {
	case z.hidden():
		s.Reason = new(reasonHidden)
	case d == byGender && z.noAge, d == byAge && z.noGender:
		s.Reason = new(reasonNoDimension)
	case z.shares == nil:
		s.Reason = new(reasonNobody)
	default:
		var w weighing
		if d == byGender {
			for a := range ageBands {
				share := 0.0
				for g := range z.shares {
					share += z.shares[g][a]
				}
				w.add(share, rates.yes[i][a], rates.n[i][a], z)
			}
		} else {
			for g := range z.shares {
				share := 0.0
				for a := range ageBands {
					share += z.shares[g][a]
				}
				w.add(share, rates.yes[g][i], rates.n[g][i], z)
			}
		}
		s.Rate, s.CI95, s.Reason = w.result()
	}
	return s
}

// weighing sums the rates of strata by weight. The interval combines Wilson's
// intervals of the strata, as Newcombe's does for two (the MOVER method of Zou
// and Donner): the square of its lower arm is the sum of the squares of the
// strata's weighted lower arms. It lies between 0 and 1, and equals Wilson's
// for a single stratum.
type weighing struct {
	rate, below, above float64
	empty, few         bool
}

func (w *weighing) add(share float64, yes, n int, z *standardizer) {
	switch {
	case share == 0:
		return
	case n == 0:
		w.empty = true
		return
	case z.small(n) || z.small(yes) || z.small(n-yes):
		w.few = true
	}
	p, ci := float64(yes)/float64(n), Wilson(yes, n)
	w.rate += share * p
	w.below += share * share * (p - ci.Low) * (p - ci.Low)
	w.above += share * share * (ci.High - p) * (ci.High - p)
}

func (w *weighing) result() (rate *float64, ci *Bounds, reason *string) {
	switch {
	case w.few:
		return nil, nil, new(reasonHidden)
	case w.empty:
		return nil, nil, new(reasonEmpty)
	}
	bounds := Bounds{w.rate - math.Sqrt(w.below), w.rate + math.Sqrt(w.above)}
	return rounded(w.rate, 4), bounds.within(Bounds{0, 1}).rounded(), nil
}
