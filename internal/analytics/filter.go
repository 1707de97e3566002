package analytics

import (
	"math"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Filter says whom the parameters ask for.
type Filter struct {
	gender       Gender
	anyGender    bool
	bornFrom, by drug.Day
	condition    string
	class        series.Class
	period       drug.Span
}

// Filter is the filter of the parameters.
func (p *Params) Filter() Filter {
	f := Filter{anyGender: p.Gender == nil, bornFrom: math.MinInt32, by: math.MaxInt32, class: p.class, period: p.Period()}
	if p.Gender != nil {
		f.gender = FoldGender(*p.Gender)
	}
	if p.AgeMin != nil {
		f.by = bornBy(p.AsOf, *p.AgeMin)
	}
	if p.AgeMax != nil {
		f.bornFrom = bornBy(p.AsOf, *p.AgeMax+1) + 1
	}
	if p.Condition != nil {
		f.condition = *p.Condition
	}
	return f
}

// Scope is the filter of whom a tally must be given: with an adjustment all, as
// those who match the filters are compared with them.
func (p *Params) Scope() Filter {
	if p.Adjust != nil {
		return (&Params{Start: p.Start, AsOf: p.AsOf}).Filter()
	}
	return p.Filter()
}

// any reports whether the filter may leave somebody out.
func (f *Filter) any() bool {
	return !f.anyGender || f.bornFrom != math.MinInt32 || f.by != math.MaxInt32 || f.condition != "" || f.class != 0
}

// Admits reports whether a patient passes by what is known without the series,
// so that those who do not need not be decoded. The tallies ask it again.
func (f *Filter) Admits(p *Patient) bool {
	if !f.person(p) {
		return false
	}
	if f.condition == "" {
		return true
	}
	for _, code := range p.Codes {
		if strings.HasPrefix(code, f.condition) {
			return true
		}
	}
	return false
}

// person reports whether a patient has the gender and the age that are asked for.
func (f *Filter) person(p *Patient) bool {
	return p.Born >= f.bornFrom && p.Born <= f.by && (f.anyGender || p.Gender == f.gender)
}

// passes is the whole filter. Maybe is set for one of whom nobody knows whether
// a medicine of the class was taken: there is one of which nobody knows what it
// is.
func (f *Filter) passes(p *Patient, g *Gist) (yes, maybe bool) {
	if !f.Admits(p) {
		return false, false
	}
	if f.class == 0 || anyTaken(ofClass(g.Medications, f.class), f.period) {
		return true, false
	}
	return false, anyTaken(unclassified(g.Medications), f.period)
}
