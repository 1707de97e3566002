package analytics

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// The random patients live in the two years before the end of 2024. Most of
// what befalls them is so many days from one of a few days as the rules speak
// of, for it is there that rules go wrong. They come from a seed that rapid
// draws, since its own numbers are mostly small and its lists short.
const lastDay = drug.Day(20088) // 2024-12-31

var (
	anchors = []drug.Day{lastDay - 420, lastDay - 200}
	offsets = []drug.Day{-120, -91, -90, -31, -30, -29, -14, -13, -12, 0, 0, 0, 0, 1, 14, 15, 16, 30, 31, 44, 60, 75, 89, 90, 91, 105, 120, 121, 135, 180, 305, 364, 365}
	lengths = []drug.Day{0, 1, 13, 29, 30, 88, 89, 90, 120}
	kinds   = []series.Kind{averageNRS, averageNRS, averageNRS, {Scale: 1, Aspect: series.Current}, {Scale: 2, Aspect: series.Average},
		{Scale: 1, Aspect: series.Average, Site: 20}, {Scale: 1, Aspect: series.Average, Site: 20, Side: 1}, {Scale: 1, Aspect: series.Average, Site: 20, Side: 2}, {Scale: 3, Aspect: series.Average}, {Scale: 1, Aspect: 3}}
)

type dice struct{ *rand.Rand }

func roll(t *rapid.T) dice { return dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))} }

func oneOf[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }

func (d dice) day() drug.Day {
	if d.IntN(4) == 0 {
		return lastDay + 20 - drug.Day(d.IntN(720))
	}
	return oneOf(d, anchors...) + oneOf(d, offsets...)
}

func (d dice) at() int64 { return startOf(d.day()) + int64(oneOf(d, 0, 540, 1000, 1439))*60_000 }

func (d dice) value() series.Value {
	return series.Value{Number: float64(d.IntN(31)) / 3, Known: d.IntN(5) > 0}
}

func (d dice) medication() series.Medication {
	first := d.day()
	m := series.Medication{Span: drug.Span{First: first, Last: first + oneOf(d, lengths...)}, Open: d.IntN(4) == 0,
		Class: oneOf[series.Class](d, 1, 1, 1, 2, 3, 4, 9, 12), Status: oneOf[series.MedicationStatus](d, 0, 0, 1, 2, 4, 6)}
	m.Drug, m.Product = oneOf[uint32](d, 0, 1, 1, 1, 2), oneOf[uint32](d, 0, 7, 7, 8)
	if m.Drug == 0 {
		m.Product = 0
	}
	switch {
	case m.Open:
		if d.IntN(3) == 0 {
			m.Last = m.First
		}
	case d.IntN(4) == 0:
		m.HasEnd, m.End, m.Supplied = true, m.Last+oneOf[drug.Day](d, 0, 0, 5), d.IntN(2) == 0
		if !m.Supplied {
			m.End = m.Last
		}
	default:
		m.Supplied = true
	}
	switch m.Class {
	case opioid:
		if m.Reason = oneOf[series.Reason](d, 0, 0, 0, 1, 8); m.Reason == 0 {
			m.MME = float64(10 * (1 + d.IntN(12)))
		}
	case 9:
		m.Ingredient = naloxone
	case 12: // nobody knows what it is
		m.Reason = 9
	}
	m.Prescriber, m.Pharmacy = uint32(d.IntN(6)), uint32(d.IntN(6))
	return m
}

func (d dice) patient() *Patient {
	s := &series.Series{}
	for range d.IntN(20) {
		s.Scores = append(s.Scores, series.Score{At: d.at(), Kind: oneOf(d, kinds...), Value: uint8(d.IntN(11)), After: d.IntN(6) == 0})
	}
	for range d.IntN(6) {
		s.Assessments = append(s.Assessments, series.Assessment{At: d.at(), Instrument: oneOf[series.Instrument](d, 1, 2, 5, 6, 6, 12), Score: d.value()})
	}
	for range d.IntN(4) {
		s.Procedures = append(s.Procedures, series.Procedure{At: d.at(), Type: series.ProcedureType(1 + d.IntN(3)), Pre: d.value(), Post: d.value()})
	}
	for range d.IntN(7) {
		s.Medications = append(s.Medications, d.medication())
	}
	for range d.IntN(4) {
		s.Impacts = append(s.Impacts, series.Impact{At: d.at(), Asks: oneOf(d, series.Limits, series.Frequency), Level: series.Level(1 + d.IntN(4))})
	}
	for range d.IntN(3) {
		s.Screens = append(s.Screens, d.day())
	}
	s.Sort()
	p := &Patient{Born: drug.Day(d.IntN(34_000) - 15_000), Gender: Gender(d.IntN(int(genders))), Series: s}
	for range d.IntN(3) {
		p.Codes = append(p.Codes, oneOf(d, "M54.50", "M54.2", "G89.29", "C50.911", "C97", "D57.1", "Z51.5"))
	}
	for range d.IntN(5) / 3 {
		p.Exempt.Add(pain.Exemption(d.IntN(int(pain.Exemptions))), d.day())
	}
	return p
}

func (d dice) patients(most int) []*Patient {
	list := make([]*Patient, d.IntN(most+1))
	for i := range list {
		list[i] = d.patient()
	}
	return list
}

func (d dice) request() Request {
	days := []drug.Day{d.day(), d.day()}
	slices.Sort(days)
	r := Request{StartDate: dateOf(days[0]), EndDate: dateOf(days[1]), Interval: oneOf(d, "", "day", "week", "month"), FollowUp: oneOf(d, "", "30", "90", "180", "365"),
		Gender: oneOf(d, "", "", "", "male", "unknown"), Condition: oneOf(d, "", "", "", "M54", "G", "C50.9"), MedicationClass: oneOf(d, "", "", "", "opioid", "nsaid", "unclassified")}
	if d.IntN(4) == 0 {
		ages := []int{d.IntN(90), d.IntN(90)}
		slices.Sort(ages)
		r.AgeMin, r.AgeMax = strconv.Itoa(ages[0]), strconv.Itoa(ages[1])
	}
	r.Standard, r.Adjust = oneOf(d, "", "", "age", "gender", "18-29:2,65+:1", "female/65+:1,male/30-44:3,unknown/<18:0"), oneOf(d, "", "case_mix")
	if d.IntN(3) == 0 {
		r.CompareEnd = dateOf(days[0] - 1 - drug.Day(d.IntN(60)))
	}
	return r
}
