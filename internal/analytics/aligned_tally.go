package analytics

import (
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// verdict is the result of a measure for one patient of its crowd.
type verdict uint8

const (
	undecided  verdict = iota // the available data does not decide it
	unrecorded                // undecided because prescribers or pharmacies are not recorded
	no
	yes
	verdicts
)

func verdictOf(is bool) verdict {
	if is {
		return yes
	}
	return no
}

// alignedTally counts the aligned measures.
type alignedTally struct {
	period  drug.Span
	window  drug.Span // for answers about the impact of pain
	adultBy drug.Day  // latest birth date of an adult

	considered [crowds]int
	excluded   [crowds][exclusions]int
	decided    [alignedCount][verdicts]int

	usage usage // reused for each patient
}

func (a *alignedTally) begin(p *Params) {
	a.period = p.Period()
	a.window = drug.Span{First: p.AsOf - impactDays + 1, Last: p.AsOf}
	a.adultBy = bornBy(p.Start, adultAge)
}

func (a *alignedTally) merge(o *alignedTally) {
	addAll(a.considered[:], o.considered[:])
	for i := range a.excluded {
		addAll(a.excluded[i][:], o.excluded[i][:])
	}
	for i := range a.decided {
		addAll(a.decided[i][:], o.decided[i][:])
	}
}

// enter adds a patient to a crowd. It is not ok if the patient is excluded.
func (a *alignedTally) enter(c crowd, why exclusion) (ok bool) {
	a.considered[c]++
	if why == notExcluded {
		return true
	}
	a.excluded[c][why]++
	return false
}

// exclusion returns why measures of opioid use exclude a patient.
func (a *alignedTally) exclusion(p *Patient) exclusion {
	if p.Born > a.adultBy {
		return minor
	}
	if e, ok := p.Exempt.On(a.period.Last); ok {
		return exemptFirst + exclusion(e)
	}
	return notExcluded
}

// answered reports whether there is an answer about the impact of pain.
func (a *alignedTally) answered(marks []Mark) bool { return impactIn(marks, a.window) != impact{} }

// addImpact counts a patient by the answers, or by pain scores without
// answers.
func (a *alignedTally) addImpact(p *Patient, marks []Mark, scores *scored) {
	why := notExcluded
	if p.Born > a.adultBy {
		why = minor
	}
	if !a.enter(asked, why) {
		return
	}
	verdict, proxy := a.impact(marks, scores)
	a.decided[highImpact][verdict]++
	if verdict == undecided {
		a.enter(unasked, notExcluded)
		a.decided[highImpactProxy][proxy]++
	}
}

// impact returns whether an adult has high-impact chronic pain. If that is
// undecided, proxy is based on pain scores.
func (a *alignedTally) impact(marks []Mark, scores *scored) (verdict, proxy verdict) {
	i := impact{}
	if len(marks) > 0 {
		i = impactIn(marks, a.window)
	}
	if i.frequency != 0 && i.limits != 0 {
		return verdictOf(i.frequency >= series.MostDays && i.limits >= series.MostDays), no
	}
	if most := max(i.frequency, i.limits); most != 0 && most < series.MostDays {
		return undecided, no
	}
	score, _, ok := scores.latest(a.window.First)
	if !ok {
		return undecided, undecided
	}
	return undecided, verdictOf(isSevere(score))
}

// addOpioids counts a patient who has or may have opioids.
func (a *alignedTally) addOpioids(p *Patient, g *Gist, d *drugs) {
	u := &a.usage
	u.look(g, d, a.period)
	why, known := a.exclusion(p), true
	if why == notExcluded {
		switch sure, may := u.onlyOUD(); {
		case sure:
			why = onlyOUD
		case may:
			known = false
		}
	}
	if sure, may := u.treated(); may && a.enter(treated, why) {
		a.addTreated(u, sure && known)
	}
	if sure, may := u.long(); may && a.enter(longUsed, why) {
		verdict := undecided
		if sure && known {
			verdict = verdictOf(screenedIn(g.Marks, a.period))
		}
		a.decided[monitored][verdict]++
	}
	a.addEpisode(u, why, known)
}

func (a *alignedTally) addTreated(u *usage, sure bool) {
	if !sure {
		for i := range alignedMeasures {
			if alignedMeasures[i].of == treated {
				a.decided[i][undecided]++
			}
		}
		return
	}
	dose, overPeriod := u.highDose()
	a.decided[highDose][dose]++
	a.decided[highDosePeriod][overPeriod]++
	a.decided[concurrent][u.concurrent()]++
	prescribers, pharmacies := u.sources()
	a.decided[manyPrescribers][prescribers]++
	a.decided[manyPharmacies][pharmacies]++
	a.decided[manyBoth][both(prescribers, pharmacies)]++
}

// addEpisode counts a new episode of opioids. known is set if nothing else may
// exclude the patient.
func (a *alignedTally) addEpisode(u *usage, why exclusion, known bool) {
	first, sure, may := u.episode()
	if !may {
		return
	}
	sure = sure && known
	if why == notExcluded && sure && first+episodeDays-1 > a.period.Last {
		why = notOver
	}
	if !a.enter(newlyUsed, why) {
		return
	}
	short, long := undecided, undecided
	if sure {
		short, long = u.covers(first, episodeFirst, continuedFirst), u.covers(first, episodeDays, continuedLong)
	}
	a.decided[continued15][short]++
	a.decided[continued31][long]++
}

// both returns whether two verdicts hold.
func both(a, b verdict) verdict {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	case a == undecided || b == undecided:
		return undecided
	}
	return unrecorded
}
