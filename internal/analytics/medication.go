package analytics

import (
	"cmp"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Medication is a prescription, reduced to what queries need. Every query
// scans those of all patients, so it is kept small.
type Medication struct {
	drug.Span          // days of the timeline
	start     drug.Day // first day according to the record
	class     series.Class
	reason    series.Reason // why an opioid has no MME
	open      bool          // days after the first are assumed
	naloxone  bool
}

// Source is the prescriber and the pharmacy; 0 means not recorded.
type Source struct{ prescriber, pharmacy uint32 }

func medicationOf(m *series.Medication) Medication {
	return Medication{Span: m.Span, start: m.Start, class: m.Class, reason: m.Reason, open: m.Open, naloxone: m.Ingredient == naloxone}
}

// takeMedications appends medicines with their days, sorted by class and first
// day, and the doses of opioids.
func (r *skimmer) takeMedications(g *Gist, recorded []series.Medication) []Medication {
	r.laid = append(r.laid[:0], recorded...)
	r.planner.Lay(r.laid)
	if r.planner.Shifted {
		g.Overlapped = append(g.Overlapped, r.dosesOn(r.planner.Overlapped)...)
	}
	slices.SortStableFunc(r.laid, func(a, b series.Medication) int {
		if a.Class != b.Class {
			return cmp.Compare(a.Class, b.Class)
		}
		return cmp.Compare(a.First, b.First)
	})
	from := len(g.Medications)
	for i := range r.laid {
		m := &r.laid[i]
		g.Medications = append(g.Medications, medicationOf(m))
		if mayBeOpioids.has(m.Class) {
			g.Sources = append(g.Sources, Source{m.Prescriber, m.Pharmacy})
		}
	}
	g.Doses = append(g.Doses, r.dosesOn(nil)...)
	r.spans = r.spans[:0]
	for i := range r.courses {
		r.spans = append(r.spans, r.courses[i].Span)
	}
	g.Covered = append(g.Covered, drug.Join(r.spans)...)
	g.shelf = shelfOf(g.Medications[from:])
	g.Shelf = &g.shelf
	return g.Medications[from:]
}

// Shelf locates the medicines of some classes in a patient's list, and
// summarises them.
type Shelf struct {
	opioids, benzodiazepines, gabapentinoids, unknown place
	// open is set if days of one of them are assumed, and lacking if the dose
	// of an opioid is unknown.
	open, naloxone, lacking bool
}

// place is a range of a list, excluding its end.
type place struct{ from, to uint32 }

func (p place) of(list []Medication) []Medication { return list[p.from:p.to] }

func shelfOf(list []Medication) (s Shelf) {
	find := func(class series.Class) place {
		from := 0
		for from < len(list) && list[from].class < class {
			from++
		}
		return place{uint32(from), uint32(from + len(ofClass(list[from:], class)))}
	}
	s.opioids, s.benzodiazepines, s.gabapentinoids, s.unknown = find(opioid), find(benzodiazepine), find(gabapentinoid), find(series.Unclassified)
	for i := range list {
		s.open, s.naloxone = s.open || list[i].open, s.naloxone || list[i].naloxone
		s.lacking = s.lacking || missesDose[list[i].reason%reasonCodes]
	}
	return s
}

// dosesOn returns the daily MME of opioids, on other days than their own if
// given. The result is valid until the next call.
func (r *skimmer) dosesOn(days []drug.Span) []drug.Dose {
	r.courses = r.courses[:0]
	for i := range r.laid {
		if r.laid[i].Class != opioid {
			continue
		}
		c := r.laid[i].Course()
		if days != nil {
			c.Span = days[i]
		}
		if c.First <= c.Last {
			r.courses = append(r.courses, c)
		}
	}
	return r.meter.Timeline(r.courses)
}

// ofClass returns the medicines of a class.
func ofClass(list []Medication, class series.Class) []Medication {
	from := 0
	for from < len(list) && list[from].class < class {
		from++
	}
	to := from
	for to < len(list) && list[to].class == class {
		to++
	}
	return list[from:to]
}

// unclassified returns the unclassified medicines, which come last.
func unclassified(list []Medication) []Medication {
	from := len(list)
	for from > 0 && list[from-1].class == series.Unclassified {
		from--
	}
	return list[from:]
}

// anyTaken reports whether any of the medicines was taken on a day of a
// window.
func anyTaken(list []Medication, window drug.Span) bool {
	for i := range list {
		if list[i].taken(window) {
			return true
		}
	}
	return false
}

// taken reports whether the medicine was taken on a day of a window.
func (m *Medication) taken(window drug.Span) bool {
	return m.First <= window.Last && m.Last >= window.First && m.First <= m.Last
}

// classIn returns the class of a medicine as a set if it was taken on a day of
// a window, and otherwise the empty set. It avoids branches, because they are
// unpredictable.
func (m *Medication) classIn(window drug.Span) classSet {
	before, after, none := int64(m.Last)-int64(window.First), int64(window.Last)-int64(m.First), int64(m.Last)-int64(m.First) // one of them is negative if it was not
	return classSet(^(before|after|none)>>63&1) << (m.class % classCodes)
}

// assumed reports whether the medicine is assumed to be taken on a day of a
// window.
func (m *Medication) assumed(window drug.Span) bool {
	return m.open && m.Last > m.First && m.Last >= window.First && m.First < window.Last
}
