package analytics

// count enters and prints a count of patients.
func (l *ledger) count(into *Count, c *cell) {
	l.after(func() { *into = Count{c.shown(), c.hidden} })
}

func (c *cell) shown() *int {
	if c.hidden {
		return nil
	}
	return new(c.value)
}

// proportion enters and prints a count out of n.
func (l *ledger) proportion(into *Proportion, definition, denominator string, count, n *cell) {
	l.within(n, count)
	l.after(func() {
		*into = Proportion{Definition: definition, Denominator: denominator, Count: count.shown(), N: n.shown()}
		if into.Suppressed = count.hidden || n.hidden; into.Suppressed {
			return
		}
		into.Unstable = n.value < stableFrom
		into.Proportion, into.Percent, into.CI95 = share(count.value, n.value)
	})
}

// undetermined enters and prints the rest of a whole beyond the n of a
// proportion entered before.
func (l *ledger) undetermined(into *Proportion, whole, n *cell) *cell {
	c := l.cell(whole.value - n.value)
	l.sum(whole, n, c)
	l.after(func() { into.Undetermined, into.Suppressed = c.shown(), into.Suppressed || c.hidden })
	return c
}

// silent enters a count that is not printed.
func (l *ledger) silent(value int) *cell {
	c := l.cell(value)
	c.silent = true
	return c
}

// share returns a proportion in its forms, or nil if n is 0.
func share(count, n int) (proportion, percent *float64, ci *Bounds) {
	if n == 0 {
		return nil, nil, nil
	}
	p := float64(count) / float64(n)
	return rounded(p, 4), rounded(100*p, 2), Wilson(count, n).rounded()
}

// mean enters and prints a mean. n is the number of its patients.
func (l *ledger) mean(into *Mean, definition string, n *cell, s *sum, decimals int, scale Bounds) {
	l.after(func() {
		*into = Mean{Definition: definition, N: n.shown(), Suppressed: n.hidden}
		if n.hidden {
			return
		}
		into.Unstable = s.n < stableFrom
		if s.n == 0 {
			return
		}
		mean := s.mean()
		into.Mean = rounded(mean, decimals)
		if s.n >= minForDeviation {
			into.SD = rounded(s.sd(), 4)
		}
		if s.n >= minForInterval {
			into.CI95 = meanInterval(mean, s.sd(), s.n).within(scale).rounded()
		}
	})
}

// split enters and prints a whole with its groups. Each group is shown as a
// share, so the rest of the whole must not be small either.
func (l *ledger) split(into *Split, definition, denominator string, n *cell, names []string, groups []*cell) {
	l.sum(n, groups...)
	for _, c := range groups {
		l.within(n, c)
	}
	l.after(func() {
		*into = Split{Definition: definition, Denominator: denominator, N: n.shown(), Groups: []Share{}, Suppressed: n.hidden}
		for i, c := range groups {
			s := Share{Group: names[i], Count: c.shown(), Suppressed: c.hidden}
			if !c.hidden && !n.hidden && n.value > 0 {
				s.Percent = rounded(100*float64(c.value)/float64(n.value), 2)
			}
			into.Suppressed = into.Suppressed || c.hidden
			into.Groups = append(into.Groups, s)
		}
	})
}

// effects prints the effect sizes of a change.
func (l *ledger) effects(srm, size **float64, n *cell, p *paired) {
	l.after(func() {
		if !n.hidden {
			*srm, *size = p.effects()
		}
	})
}

// cellsOf enters counts that are parts of a whole.
func (l *ledger) cellsOf(values []int) []*cell {
	cells := make([]*cell, len(values))
	for i, v := range values {
		cells[i] = l.cell(v)
	}
	return cells
}
