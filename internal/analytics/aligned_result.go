package analytics

// Measure follows a published quality measure: the count out of n patients with
// Wilson's interval, and the exclusions. Considered counts the patients who meet
// or may meet the conditions. Each of them is either excluded, for the first
// reason that applies, or undetermined, or in n. The measure is not certified,
// and its rate is not comparable with published ones.
type Measure struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Aligned     bool        `json:"aligned"` // with a published measure, but not certified
	Proxy       bool        `json:"proxy"`
	Direction   string      `json:"direction"` // lower_is_better or higher_is_better
	Definition  string      `json:"definition"`
	Denominator string      `json:"denominator"`
	Numerator   string      `json:"numerator"`
	Considered  *int        `json:"considered"`
	Exclusions  []Exclusion `json:"exclusions"`
	// Undetermined counts patients for whom the available data does not decide
	// whether they belong in n or in count.
	Undetermined *int `json:"undetermined"`
	// NotRecorded counts those of Undetermined for whom prescribers or
	// pharmacies are not recorded. It is null if the measure does not use them.
	NotRecorded *int     `json:"not_recorded"`
	Count       *int     `json:"count"`
	N           *int     `json:"n"`
	Proportion  *float64 `json:"proportion"`
	Percent     *float64 `json:"percent"`
	CI95        *Bounds  `json:"ci95"`
	Unstable    bool     `json:"unstable"` // n < 10
	Suppressed  bool     `json:"suppressed"`
	Caveat      string   `json:"caveat"`
}

// Exclusion counts the patients excluded from a measure for one reason.
type Exclusion struct {
	Reason     string `json:"reason"`
	Count      *int   `json:"count"`
	Suppressed bool   `json:"suppressed"`
}

// Rate returns the measure as a proportion.
func (m *Measure) Rate() *Proportion {
	return &Proportion{Definition: m.Definition, Denominator: m.Denominator, Count: m.Count, N: m.N, Proportion: m.Proportion, Percent: m.Percent,
		CI95: m.CI95, Unstable: m.Unstable, Suppressed: m.Suppressed, Undetermined: m.Undetermined}
}

// Exclusion returns the number of patients excluded for a reason, or nil if it
// is hidden or the measure has no such reason.
func (m *Measure) Exclusion(reason string) *int {
	for _, e := range m.Exclusions {
		if e.Reason == reason {
			return e.Count
		}
	}
	return nil
}

// ExclusionReasons lists the reasons in order of precedence.
func ExclusionReasons() []string { return exclusionNames[:] }

// OpioidMeasures returns the measures of opioid use.
func OpioidMeasures(all []Measure) []Measure {
	list := []Measure{}
	for i := range all {
		if of := alignedMeasures[i].of; of != asked && of != unasked {
			list = append(list, all[i])
		}
	}
	return list
}

// recordsSources reports whether a measure uses prescribers or pharmacies.
func recordsSources(measure int) bool {
	return measure == manyPrescribers || measure == manyPharmacies || measure == manyBoth
}

// crowdCells are the counts of a crowd; counted excludes the excluded.
type crowdCells struct {
	considered, counted *cell
	excluded            []*cell
}

// print enters the measures, and prints them once the ledger is settled.
func (a *alignedTally) print(l *ledger, patients, active *cell, others *comparisons) []Measure {
	var of [crowds]crowdCells
	for c := range crowds {
		if c == unasked {
			continue // they are those for whom the answers do not decide it
		}
		of[c] = a.enterCrowd(l, c)
		whole := active
		if c == asked {
			whole = patients
		}
		l.within(whole, of[c].considered)
		a.enterSame(l, c, of[c].considered, patients, active, others)
	}
	out := make([]Measure, alignedCount)
	var counts [alignedCount]*cell
	for i := range out {
		m, decided := &alignedMeasures[i], &a.decided[i]
		count, n := l.cell(decided[yes]), l.cell(decided[yes]+decided[no])
		open := l.cell(decided[undecided] + decided[unrecorded])
		l.within(n, count)
		l.sum(of[m.of].counted, n, open)
		counts[i] = count
		if i == highImpact {
			of[unasked] = crowdCells{considered: open, counted: open}
		}
		var missing *cell
		if recordsSources(i) {
			missing = l.cell(decided[unrecorded])
			l.within(open, missing)
		}
		l.after(func() { out[i] = m.result(of[m.of], count, n, open, missing) })
	}
	l.within(counts[manyPrescribers], counts[manyBoth])
	l.within(counts[manyPharmacies], counts[manyBoth])
	l.within(counts[highDose], counts[highDosePeriod])
	return out
}

// enterSame enters which other counts of the response equal those of a crowd,
// because a reader can infer it: over a year, those with 90 days of opioids
// are the long-term users, and if no patient is inactive, all are included.
func (a *alignedTally) enterSame(l *ledger, c crowd, considered, patients, active *cell, others *comparisons) {
	if c == asked {
		l.same(considered, patients)
		l.same(considered, active)
		return
	}
	for _, of := range []totals{others.totals[exposure], others.totals[longTerm]} {
		l.same(considered, of.yes, of.open)
	}
}

// enterCrowd enters the counts of a crowd.
func (a *alignedTally) enterCrowd(l *ledger, c crowd) (cells crowdCells) {
	cells.considered = l.cell(a.considered[c])
	rest := a.considered[c]
	for _, why := range crowdExclusions[c] {
		cells.excluded = append(cells.excluded, l.cell(a.excluded[c][why]))
		rest -= a.excluded[c][why]
	}
	cells.counted = l.silent(rest)
	l.sum(cells.considered, append([]*cell{cells.counted}, cells.excluded...)...)
	return cells
}

func (m *AlignedMeasure) result(of crowdCells, count, n, open, missing *cell) Measure {
	r := Measure{ID: m.ID, Name: m.Name, Aligned: true, Proxy: m.Proxy, Direction: m.Direction, Definition: m.ID, Denominator: m.Denominator, Numerator: m.Numerator,
		Considered: of.considered.shown(), Exclusions: []Exclusion{}, Undetermined: open.shown(), Count: count.shown(), N: n.shown(), Caveat: MeasureCaveat,
		Suppressed: of.considered.hidden || open.hidden || count.hidden || n.hidden}
	for i, c := range of.excluded {
		r.Exclusions = append(r.Exclusions, Exclusion{exclusionNames[crowdExclusions[m.of][i]], c.shown(), c.hidden})
		r.Suppressed = r.Suppressed || c.hidden
	}
	if missing != nil {
		r.NotRecorded, r.Suppressed = missing.shown(), r.Suppressed || missing.hidden
	}
	if !count.hidden && !n.hidden {
		r.Unstable = n.value < stableFrom
		r.Proportion, r.Percent, r.CI95 = share(count.value, n.value)
	}
	return r
}
