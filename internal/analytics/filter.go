package analytics

import (
	"math"
	"strings"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Filter selects patients by the parameters.
type Filter struct {
	gender       Gender
	anyGender    bool
	bornFrom, by drug.Day
	condition    string
	class        series.Class
	period       drug.Span
}

// Filter returns the filter of the parameters.
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

// TellsApart reports whether the age limits of the filter separate persons who
// have an age, or a higher one, on a day.
func (p *Params) TellsApart(age int, on drug.Day) (byMin, byMax bool) {
	latest := bornBy(on, age)
	return p.AgeMin != nil && bornBy(p.AsOf, *p.AgeMin) < latest, p.AgeMax != nil && bornBy(p.AsOf, *p.AgeMax+1) < latest
}

// Scope returns the filter of the patients that must be added to a tally. With
// an adjustment it is all, because those who match the filters are compared
// with all others.
func (p *Params) Scope() Filter {
	if p.Adjust != nil {
		return (&Params{Start: p.Start, AsOf: p.AsOf}).Filter()
	}
	return p.Filter()
}

// Any reports whether the filter may exclude a patient.
func (f *Filter) Any() bool {
	return !f.anyGender || f.bornFrom != math.MinInt32 || f.by != math.MaxInt32 || f.condition != "" || f.class != 0
}

// Admits reports whether a patient passes the conditions that do not need the
// series, so that the series of others need not be decoded. The tallies check
// it again.
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

// Selects reports whether a patient, with its series, passes the whole filter.
// It is false for a patient for whom this is unknown.
func (f *Filter) Selects(p *Patient) bool {
	if f.class == 0 || !f.Admits(p) {
		return f.Admits(p)
	}
	var room Gist
	yes, _ := f.passes(p, p.gist(&room))
	return yes
}

// NeedsSeries reports whether Selects uses the series.
func (f *Filter) NeedsSeries() bool { return f.class != 0 }

// person reports whether a patient has the requested gender and age.
func (f *Filter) person(p *Patient) bool {
	return p.Born >= f.bornFrom && p.Born <= f.by && (f.anyGender || p.Gender == f.gender)
}

// passes applies the whole filter. maybe is set if an unclassified medicine
// leaves open whether the requested class was taken.
func (f *Filter) passes(p *Patient, g *Gist) (yes, maybe bool) {
	if !f.Admits(p) {
		return false, false
	}
	if f.class == 0 || anyTaken(ofClass(g.Medications, f.class), f.period) {
		return true, false
	}
	return false, anyTaken(unclassified(g.Medications), f.period)
}
