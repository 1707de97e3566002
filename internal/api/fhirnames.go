package api

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// A search by a date of birth or a name uses the index in memory that /v1
// searches. It has the names that are stored; a Patient that was received can
// have others, such as a maiden name, which are only kept. So a search by name
// first looks at the patients whose stored name contains what is sought, and
// then at the others, in order. A page ends soon after the first, so that its
// cost does not grow with the number of patients.
var fhirUnnamed = 200 // resources looked at on the page on which the patients with a name end

// inDirectory returns where the results of a search that names no resource may
// be.
func (s *fhirSearch) inDirectory() (fhirSource, error) {
	day, names := s.Day("birthdate"), s.Texts("name", "family", "given")
	if s.Type != "Patient" {
		day, names = s.DayOfPatient("birthdate"), s.TextsOfPatient("name", "family", "given")
	}
	switch s.from.kind {
	case placeNamed, placeUnnamed:
		day = "" // as on the first page
	case placeScanned:
		names = nil
	}
	if born, err := pain.ParseDate(day); err == nil {
		numbers, complete, err := s.numbers(cohort.Query{Born: born})
		if err != nil {
			return nil, err
		}
		if complete {
			return &numberSource{s, numbers}, nil
		}
	}
	n := namedSource{s: s}
	for _, text := range names {
		text = strings.TrimSpace(pain.Fold(text))
		if text == "" || utf8.RuneCountInString(text) > maxSearch {
			return &scanSource{s}, nil
		}
		n.texts = append(n.texts, text)
	}
	if n.texts == nil {
		return &scanSource{s}, nil
	}
	if s.from.kind == placeUnnamed {
		return &n, nil
	}
	for _, text := range n.texts {
		numbers, complete, err := s.numbers(cohort.Query{Term: text})
		if err != nil {
			return nil, err
		}
		if !complete { // there are so many that they are found anyway
			return &scanSource{s}, nil
		}
		n.numbers = append(n.numbers, numbers...)
	}
	slices.Sort(n.numbers)
	n.numbers = slices.Compact(n.numbers)
	return &n, nil
}

// numbers returns the numbers of the patients that match a query, in order. It
// is complete unless there are very many; a search that has begun with them
// always gets all.
func (s *fhirSearch) numbers(q cohort.Query) (numbers []int64, complete bool, err error) {
	q.Page, q.Limit, q.Order = 1, int64(fhirScanned), cohort.OldestFirst
	numbers, total, err := s.x.api.Cohorts.List(s.x.ctx(), s.x.org, q)
	if err == nil && total > q.Limit && s.from.kind == placeNamed {
		q.Limit = total
		numbers, _, err = s.x.api.Cohorts.List(s.x.ctx(), s.x.org, q)
		return numbers, true, err
	}
	return numbers, total <= q.Limit, err
}

// number returns the number of the patient of a place that has one.
func (p fhirPlace) number() int64 {
	no, _ := strconv.ParseInt(p.patient, 10, 64) // it was checked
	return no
}

// chartsAtOnce is how many charts of listed patients are read together.
const chartsAtOnce = 64

// listed calls look for the charts of patients with some numbers, which are in
// order.
func (s *fhirSearch) listed(numbers []int64, from int64, kind byte, look func(*fhirChart) error) error {
	at, _ := slices.BinarySearch(numbers, from)
	for step := 8; at < len(numbers); step = min(2*step, chartsAtOnce) {
		to := min(at+step, len(numbers))
		if err := s.x.org.FHIRChartsOf(s.x.ctx(), numbers[at:to], s.query(), func(c *patients.FHIRChart) error {
			return look(&fhirChart{*c, kind, strconv.FormatInt(c.No, 10), false})
		}); err != nil {
			return err
		}
		at = to
	}
	return nil
}

// numberSource has the charts of patients with some numbers. Its places are
// those of a scan.
type numberSource struct {
	s       *fhirSearch
	numbers []int64
}

func (n *numberSource) each(from fhirPlace, look func(*fhirChart) error) error {
	return n.s.listed(n.numbers, from.number(), placeScanned, look)
}

// namedSource has the charts of all patients: first those whose stored name
// contains one of the texts, then the others.
type namedSource struct {
	s       *fhirSearch
	texts   []string // folded
	numbers []int64  // of those with a name, and maybe more
}

func (n *namedSource) each(from fhirPlace, look func(*fhirChart) error) error {
	first := int64(1)
	if from.kind == placeUnnamed {
		first = from.number()
	} else if err := n.s.listed(n.numbers, from.number(), placeNamed, func(c *fhirChart) error {
		if !n.isNamed(c) {
			return nil
		}
		return look(c)
	}); err != nil {
		return err
	}
	return n.s.scan(first, placeUnnamed, func(c *fhirChart) error {
		if n.isNamed(c) {
			return nil
		}
		return look(c)
	})
}

// isNamed reports whether the stored name of a patient contains one of the
// texts.
func (n *namedSource) isNamed(c *fhirChart) bool {
	name := pain.Fold(c.Patient.Name)
	return slices.ContainsFunc(n.texts, func(text string) bool { return strings.Contains(name, text) })
}
