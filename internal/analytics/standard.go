package analytics

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// standard is the standard population. The zero value is the whole
// organisation by gender and age band.
type standard struct {
	noGender, noAge bool
	// given are the requested weights, or nil for those of the organisation.
	// Without a gender or age, they are in the first row or column.
	given *[genders][ageBands]float64
}

// The values that request a standard of the organisation itself.
const (
	standardBoth   = "age_gender"
	standardAge    = "age"
	standardGender = "gender"
)

// maxWeight limits weights, so that their sum cannot overflow.
const maxWeight = 1e12

// ageWords are the names of age bands in a standard. They avoid plus signs,
// which mean spaces in a URL.
var ageWords = map[string]int{"<18": 0, "0-17": 0, "18-29": 1, "30-44": 2, "45-64": 3, "65+": 4, "65": 4}

// standard parses a standard: one of the words, or weights such as
// female/18-29:120,male/18-29:115, by gender and age band or by one of them.
func (c checker) standard(text string) (s standard) {
	switch text {
	case standardBoth:
		return s
	case standardAge:
		return standard{noGender: true}
	case standardGender:
		return standard{noAge: true}
	}
	s, problem := readStandard(text)
	if problem != "" {
		c.Add("standard", clip(text), "standard "+problem+".")
		return standard{}
	}
	return s
}

func readStandard(text string) (s standard, problem string) {
	const form = "must be age_gender, age, gender, or weights such as female/18-29:120,male/18-29:115"
	s.given = new([genders][ageBands]float64)
	var seen [genders][ageBands]bool
	total := 0.0
	for i, part := range strings.Split(text, ",") {
		name, number, ok := strings.Cut(part, ":")
		weight, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil {
			return s, form
		}
		if !(weight >= 0 && weight <= maxWeight) {
			return s, "must have weights from 0 to " + strconv.FormatFloat(maxWeight, 'f', -1, 64)
		}
		gender, age, ok := stratumOf(name)
		if !ok {
			return s, "has no group " + strconv.Quote(clip(name)) + "; genders are " + strings.Join(genderNames[:], ", ") + " and age bands <18, 18-29, 30-44, 45-64, 65+"
		}
		if i == 0 {
			s.noGender, s.noAge = gender < 0, age < 0
		}
		if s.noGender != (gender < 0) || s.noAge != (age < 0) {
			return s, "must name all groups in the same way: by gender and age band, or by one of them"
		}
		gender, age = max(gender, 0), max(age, 0)
		if seen[gender][age] {
			return s, "names " + strconv.Quote(clip(name)) + " twice"
		}
		seen[gender][age] = true
		s.given[gender][age] = weight
		total += weight
	}
	if total <= 0 {
		return s, "must have a weight above 0"
	}
	return s, ""
}

// stratumOf parses gender/age band, or one of them. A missing part is returned
// as a negative number.
func stratumOf(name string) (gender, age int, ok bool) {
	gender, age = -1, -1
	words := strings.Split(strings.ToLower(strings.TrimSpace(name)), "/")
	if len(words) > 2 {
		return gender, age, false
	}
	for i, word := range words {
		word = strings.TrimSpace(word)
		if at := slices.Index(genderNames[:], word); at >= 0 && i == 0 {
			gender = at
		} else if at, known := ageWords[word]; known && age < 0 {
			age = at
		} else {
			return gender, age, false
		}
	}
	return gender, age, true
}

// rows and columns return the numbers of genders and age bands that the
// standard distinguishes.
func (s *standard) rows() int {
	if s.noGender {
		return 1
	}
	return int(genders)
}

func (s *standard) columns() int {
	if s.noAge {
		return 1
	}
	return ageBands
}

// fold merges strata that the standard does not distinguish.
func (s *standard) fold(cells *strata) (folded strata) {
	for g := range cells {
		for a, n := range cells[g] {
			to, at := g, a
			if s.noGender {
				to = 0
			}
			if s.noAge {
				at = 0
			}
			folded[to][at] += n
		}
	}
	return folded
}

// shares returns the weight of each stratum, which add up to 1, or nil if
// there are none. organisation holds its counts.
func (s *standard) shares(organisation *strata) *[genders][ageBands]float64 {
	var shares [genders][ageBands]float64
	total := 0.0
	for g := range shares {
		for a := range shares[g] {
			if s.given != nil {
				shares[g][a] = s.given[g][a]
			} else {
				shares[g][a] = float64(organisation[g][a])
			}
			total += shares[g][a]
		}
	}
	if total == 0 || math.IsInf(total, 0) {
		return nil
	}
	for g := range shares {
		for a := range shares[g] {
			shares[g][a] /= total
		}
	}
	return &shares
}

// names returns the gender and age band of a stratum; nil means all.
func (s *standard) names(gender, age int) (g, a *string) {
	if !s.noGender {
		g = &genderNames[gender]
	}
	if !s.noAge {
		a = &ageBandNames[age]
	}
	return g, a
}

// label returns the name of a stratum.
func (s *standard) label(gender, age int) string {
	g, a := s.names(gender, age)
	switch {
	case g == nil:
		return *a
	case a == nil:
		return *g
	}
	return *g + " " + *a
}
