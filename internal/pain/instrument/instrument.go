// Package instrument knows the questionnaires of pain care: their ranges,
// what may be missing, their cut-offs, what change matters, and who owns them.
//
// The table is in table.go, each row with its source. Instruments that are
// free to use are scored here from their items, by number: no item's text is
// held. Of licensed ones only a total that was worked out elsewhere is taken.
package instrument

import (
	"math"
	"slices"
)

// Info describes an instrument. It is printed as it is by the reference
// endpoint.
type Info struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Measure string `json:"measure"` // how the score comes about

	// TotalOnly is set for licensed instruments: there are no items, and
	// Score is given by the caller.
	TotalOnly bool    `json:"total_only"`
	Items     int     `json:"items,omitempty"`
	ItemMin   int     `json:"item_min"`
	ItemMax   int     `json:"item_max"`
	ScoreMin  float64 `json:"score_min"`
	ScoreMax  float64 `json:"score_max"`
	Whole     bool    `json:"whole"` // a score has no fraction

	Missing string `json:"missing"` // the rule for items without an answer, in words
	MayMiss int    `json:"may_miss"`

	Bands    []Band  `json:"bands,omitempty"`
	Positive float64 `json:"positive_from,omitempty"` // 0: no cut-off
	Safety   int     `json:"safety_item,omitempty"`   // item that raises a flag when above 0

	Change  Change `json:"important_change"`
	LOINC   LOINC  `json:"loinc"`
	Licence string `json:"licence"`
	Source  string `json:"source"`

	combine func(sum float64, answered, items int) float64
}

// Band is a range of scores that begins at From, or just above it.
type Band struct {
	Name  string  `json:"name"`
	From  float64 `json:"from"`
	Above bool    `json:"above,omitempty"`
}

// Change is the smallest change that matters to patients; 0 is not known.
type Change struct {
	Points  float64 `json:"points,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	// PercentFrom is the baseline from which on the percentage counts.
	PercentFrom float64 `json:"percent_from,omitempty"`
	Note        string  `json:"note,omitempty"`
}

// LOINC holds the codes of an instrument.
type LOINC struct {
	Panel string   `json:"panel,omitempty"`
	Score string   `json:"score,omitempty"`
	Items []string `json:"items,omitempty"`
}

// All lists the instruments.
func All() []Info { return slices.Clone(table) }

// Names lists the instruments' names in the table's order.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// Find returns an instrument, or nil.
func Find(name string) *Info {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// MaxItems is the most items that an instrument has.
const MaxItems = 24

// Missing is an item without an answer.
const Missing = math.MinInt8

// Answers are the items in order.
type Answers [MaxItems]int8

// Status says how a score came about.
type Status string

// The statuses.
const (
	Complete   Status = "complete"
	Prorated   Status = "prorated"
	Unscorable Status = "unscorable"
)

// Result is a scored instrument.
type Result struct {
	Status   Status
	Raw      float64 // sum of the answers; no value when unscorable
	Exact    float64 // before rounding
	Score    float64
	Band     string
	Positive bool
	Safety   bool // said of an unscorable one too
}

// Score works the score out from the items' answers.
func (i *Info) Score(answers *Answers) Result {
	var sum float64
	answered := 0
	for _, a := range answers[:i.Items] {
		if a != Missing {
			sum += float64(a)
			answered++
		}
	}
	r := Result{Status: Complete}
	r.Safety = i.Safety > 0 && answers[i.Safety-1] > 0
	switch missing := i.Items - answered; {
	case missing == 0 || i.MayMiss == i.Items:
	case missing <= i.MayMiss:
		r.Status = Prorated
	default:
		r.Status = Unscorable
		return r
	}
	r.Raw = sum
	r.Exact = i.combine(sum, answered, i.Items)
	r.Score = r.Exact
	if i.Whole {
		r.Score = math.Round(r.Exact)
	}
	r.Band, r.Positive = i.BandOf(r.Score), i.IsPositive(r.Score)
	return r
}

// BandOf returns the name of the band of a score, or "" without bands.
func (i *Info) BandOf(score float64) string {
	name := ""
	for _, b := range i.Bands {
		if score > b.From || score == b.From && !b.Above {
			name = b.Name
		}
	}
	return name
}

// HasCutOff reports whether there is a score from which on the screen is
// positive.
func (i *Info) HasCutOff() bool { return i.Positive != 0 }

// IsPositive reports whether a score reaches the cut-off.
func (i *Info) IsPositive(score float64) bool { return i.HasCutOff() && score >= i.Positive }

// InRange reports whether a total can be one of the instrument.
func (i *Info) InRange(score float64) bool {
	return score >= i.ScoreMin && score <= i.ScoreMax && (!i.Whole || score == math.Trunc(score))
}

func mean(sum float64, answered, _ int) float64 { return sum / float64(answered) }

func plainSum(sum float64, _, _ int) float64 { return sum }

// substituted is the sum with the mean of the answers for what is missing.
func substituted(sum float64, answered, items int) float64 {
	return sum * float64(items) / float64(answered)
}
