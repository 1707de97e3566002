package report

import "slices"

// prescription is a medicine with the days it covers.
type prescription struct {
	fact
	class       string
	first, last int
	open        bool // neither supply nor end
	over        bool // by its status, on the day of the record
	ended       bool // is known to have ended on a day, which is end
	end, supply int
	mme         float64
	reason      string

	same, product    string
	gone             bool // it counts on no day
	beside           bool // another of its day has another dose
	days, overlapped map[int]bool
}

var naiveClasses = map[string]string{
	"ibuprofen": "nsaid", "naproxen": "nsaid", "celecoxib": "nsaid", "acetaminophen": "other_analgesic", "gabapentin": "gabapentinoid", "pregabalin": "gabapentinoid",
	"duloxetine": "antidepressant", "amitriptyline": "antidepressant", "lorazepam": "benzodiazepine", "clonazepam": "benzodiazepine", "diazepam": "benzodiazepine", "naloxone": "opioid_antagonist",
	"tramadol": "opioid", "oxycodone": "opioid", "morphine": "opioid", "hydrocodone": "opioid", "hydromorphone": "opioid", "buprenorphine": "opioid", "codeine": "opioid", "tapentadol": "opioid",
	"fentanyl": "opioid", "methadone": "opioid", "oxymorphone": "opioid",
	"Qorvexin 100 mg": "unclassified", "Zzyzx": "unclassified",
}

// Morphine milligram equivalents of a milligram (CDC 2022); of fentanyl, of a
// microgram an hour.
var naiveFactors = map[string]float64{"tramadol": 0.2, "oxycodone": 1.5, "morphine": 1, "hydrocodone": 1, "hydromorphone": 5, "codeine": 0.15, "tapentadol": 0.4, "fentanyl": 2.4, "methadone": 4.7, "oxymorphone": 3}

var timesADay = map[string]float64{"QD": 1, "QHS": 1, "BID": 2, "TID": 3, "QID": 4}

func naiveMME(v map[string]any) (mme float64, reason string) {
	name := text(v, "name", "")
	switch {
	case name == "buprenorphine":
		return 0, "buprenorphine_excluded"
	case name == "methadone" && text(v, "indication", "") == "opioid use disorder":
		return 0, "methadone_for_oud_excluded"
	}
	strength, strong := number(v["strength"])
	quantity, counted := number(v["quantity"])
	supply, supplied := number(v["days_supply"])
	if strong && counted && supplied {
		mme = strength * quantity / supply * naiveFactors[name]
		if name == "fentanyl" {
			mme *= 3 // a patch is worn for three days
		}
		return mme, ""
	}
	dose, given := number(v["dose"])
	often, said := timesADay[text(v, "frequency", "")]
	if n, ok := number(v["doses_per_day"]); ok {
		often, said = n, true
	}
	if v["prn"] == true {
		often, said = number(v["max_doses_per_day"])
	}
	if !given || !said {
		return 0, "missing_dose_or_supply"
	}
	return dose * often * naiveFactors[name], ""
}

// current reports whether a medicine is taken on the last day.
func (n *naive) current(p *prescription) bool { return p.days[n.to] }

// lasts reports whether a medicine that is taken on the last day goes on, by what
// is known then, on a day after it.
func (p *prescription) lasts(n *naive, day int) bool {
	if p.open {
		return n.openOn(p, day) && !n.stoppedBy(p, day)
	}
	if n.stoppedBy(p, day) || p.ended && day > p.end {
		return false
	}
	if !p.carries() {
		return day <= p.last
	}
	for _, next := range n.drugs { // a refill leaves it 30 days
		if next.carries() && !next.gone && next.product == p.product && (next.first > p.first || next.first == p.first && next.id != p.id) && day > next.first+29 {
			return false
		}
	}
	return len(p.days)+day-n.to <= p.supply
}

// counts reports whether the dose of an opioid is known; misses, whether a total
// without it is too low.
func (p *prescription) counts() bool { return p.reason == "" }

func (p *prescription) misses() bool {
	return p.reason == "missing_dose_or_supply" || p.class == "unclassified"
}

// opioid reports whether a medicine is one, or may be.
func (p *prescription) opioid() bool { return p.class == "opioid" || p.class == "unclassified" }

// on is the opioids of a day and what may be one: their dose, whether one of them counts, whether
// one is missing, whether there is any, and whether one is assumed.
func (n *naive) on(day int) (mme float64, known, missing, any, assumed bool) {
	for i := range n.drugs {
		p := &n.drugs[i]
		if !p.opioid() || !p.days[day] {
			continue
		}
		any = true
		known = known || p.counts()
		missing = missing || p.misses()
		assumed = assumed || p.open && day > p.first
		if p.counts() {
			mme += p.mme
		}
	}
	return mme, known, missing, any, assumed
}

// overlappedOn is the dose of a day when no refill waits.
func (n *naive) overlappedOn(day int) (mme float64) {
	for i := range n.drugs {
		if p := &n.drugs[i]; p.opioid() && p.overlapped[day] && p.counts() {
			mme += p.mme
		}
	}
	return mme
}

// prescribed is the dose of the last day.
func (n *naive) prescribed() (mme float64, known, incomplete, assumed bool) {
	mme, known, incomplete, any, assumed := n.on(n.to)
	return mme, known || !any, incomplete, assumed
}

// unclassified names the medicines that are not understood and that something
// holds of, each once.
func (n *naive) unclassified(holds func(*prescription) bool) []any {
	names := []any{}
	for i := range n.drugs {
		if p := &n.drugs[i]; p.class == "unclassified" && holds(p) && !slices.Contains(names, p.value["name"]) {
			names = append(names, p.value["name"])
		}
	}
	return names
}

// on any of some days it is taken.
func (n *naive) between(p *prescription, from, to int) bool {
	for day := from; day <= to; day++ {
		if p.days[day] {
			return true
		}
	}
	return false
}

func (n *naive) taken(class string) bool {
	return slices.ContainsFunc(n.drugs, func(p prescription) bool { return p.class == class && n.current(&p) })
}

// roughly matches a number of the response up to rounding.
type roughly struct {
	value    float64
	decimals int
}
