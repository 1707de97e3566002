package analytics

import "math"

// design holds the covariates of a model: those with enough patients in each
// group.
type design struct {
	all   []listed
	terms []term
	// groups are the sizes of the groups that a term separates.
	groups []int
}

// term is a covariate as a number.
type term struct {
	name string
	of   func(*mix) float64
}

// listed is a covariate as printed, with the index of its term, which is
// negative if it has none.
type listed struct {
	name, status string
	term         int
}

// The statuses of a covariate.
const (
	estimated = "estimated"
	reference = "reference" // the largest group, to which the others are compared
	merged    = "merged"    // too few patients: counted with the reference
	constant  = "constant"  // all patients are alike
	tooFew    = "too_few"   // too few patients: left out
)

func sqrt(n int) float64 { return math.Sqrt(float64(n)) }

// designOf selects the terms by the number of patients in each group.
func designOf(t *mixTally, count func(*mixCell) int32) *design {
	var pain [painLevels]int
	var ages [ageBands]int
	var sexes [genders]int
	var depression [depressionLevels]int
	var opioid [2]int
	for i := range t.cells {
		n := int(count(&t.cells[i]))
		if n == 0 {
			continue
		}
		m := mixAt(i)
		pain[m.pain] += n
		ages[m.age] += n
		sexes[m.gender] += n
		depression[m.depression] += n
		opioid[int(flag(m.opioid))] += n
	}
	d := &design{}
	d.take("intercept", func(*mix) float64 { return 1 })
	d.line("baseline_pain", pain[:], func(m *mix) float64 { return float64(m.pain) })
	d.categories("age_band ", ageBandNames, ages[:], func(m *mix) int { return m.age })
	d.categories("gender ", genderNames[:], sexes[:], func(m *mix) int { return m.gender })
	d.line("depression", depression[:], func(m *mix) float64 { return float64(m.depression) })
	switch {
	case opioid[0] == 0 || opioid[1] == 0:
		d.leave("opioid_use", constant)
	case min(opioid[0], opioid[1]) < perCoefficient:
		d.leave("opioid_use", tooFew)
	default:
		d.take("opioid_use", func(m *mix) float64 { return flag(m.opioid) })
		d.groups = append(d.groups, opioid[:]...)
	}
	return d
}

func flag(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (d *design) take(name string, of func(*mix) float64) {
	d.all = append(d.all, listed{name, estimated, len(d.terms)})
	d.terms = append(d.terms, term{name, of})
}

func (d *design) leave(name, status string) { d.all = append(d.all, listed{name, status, -1}) }

// line adds a linear covariate.
func (d *design) line(name string, levels []int, of func(*mix) float64) {
	there := 0
	for _, n := range levels {
		if n > 0 {
			there++
		}
	}
	if there < 2 {
		d.leave(name, constant)
		return
	}
	d.take(name, of)
}

// categories adds a categorical covariate, with the largest group as
// reference.
func (d *design) categories(prefix string, names []string, counts []int, of func(*mix) int) {
	largest := 0
	for i, n := range counts {
		if n > counts[largest] {
			largest = i
		}
	}
	for i, n := range counts {
		switch {
		case n == 0:
		case i == largest:
			d.leave(prefix+names[i], reference)
		case n < perCoefficient:
			d.leave(prefix+names[i], merged)
		default:
			d.take(prefix+names[i], func(m *mix) float64 { return flag(of(m) == i) })
			d.groups = append(d.groups, n)
		}
	}
}

// tells reports whether a group of the model has fewer than least patients.
func (d *design) tells(least int) bool {
	for _, n := range d.groups {
		if n < least {
			return true
		}
	}
	return false
}

// observations returns the patients of a tally by the terms.
func (d *design) observations(t *mixTally) (list []observation) {
	for i := range t.cells {
		c := &t.cells[i]
		if c.n == 0 {
			continue
		}
		m := mixAt(i)
		o := observation{n: float64(c.n), total: float64(c.change) / fraction, known: float64(c.above), yes: float64(c.yes), x: make([]float64, len(d.terms))}
		for k := range d.terms {
			o.x[k] = d.terms[k].of(&m)
		}
		list = append(list, o)
	}
	return list
}

// coefficients returns the coefficients of a fit, and the statuses of the
// other covariates.
func (d *design) coefficients(f *fit, quantile float64, odds bool) []Coefficient {
	list := make([]Coefficient, 0, len(d.all))
	for _, one := range d.all {
		c := Coefficient{Term: one.name, Status: one.status}
		if one.term >= 0 {
			b, se := f.beta[one.term], f.se[one.term]
			c.Estimate, c.StandardError = rounded(b, 4), rounded(se, 4)
			c.CI95 = Bounds{b - quantile*se, b + quantile*se}.rounded()
			if odds && one.term > 0 {
				c.OddsRatio = rounded(math.Exp(b), 4)
			}
		}
		list = append(list, c)
	}
	return list
}
