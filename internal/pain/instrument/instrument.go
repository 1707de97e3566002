// Package instrument describes the questionnaires of pain care: their ranges,
// rules for missing items, cut-offs, important changes and licences.
//
// The table is in table.go; each row has its source. Instruments that are free
// to use are scored from their numbered items; item texts are not included.
// For licensed ones, only a total calculated elsewhere is accepted.
package instrument

import (
	"math"
	"slices"
)

// Info describes an instrument. The reference endpoint returns it unchanged.
type Info struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Measure string `json:"measure"` // how the score is calculated

	// TotalOnly is set for licensed instruments: there are no items, and the
	// caller provides the score.
	TotalOnly bool    `json:"total_only"`
	Items     int     `json:"items,omitempty"`
	ItemMin   int     `json:"item_min"`
	ItemMax   int     `json:"item_max"`
	ScoreMin  float64 `json:"score_min"`
	ScoreMax  float64 `json:"score_max"`
	Whole     bool    `json:"whole"` // scores are whole numbers

	Missing string `json:"missing"` // rule for missing items, in plain English
	MayMiss int    `json:"may_miss"`

	Bands    []Band  `json:"bands,omitempty"`
	Positive float64 `json:"positive_from,omitempty"` // 0: no cut-off
	Safety   int     `json:"safety_item,omitempty"`   // item that raises a safety flag if above 0

	Change  Change `json:"important_change"`
	LOINC   LOINC  `json:"loinc"`
	Licence string `json:"licence"`
	Source  string `json:"source"`

	combine func(sum float64, answered, items int) float64
}

// Band is a range of scores that starts at From, or just above it.
type Band struct {
	Name  string  `json:"name"`
	From  float64 `json:"from"`
	Above bool    `json:"above,omitempty"`
}

// Change is the minimal clinically important difference; 0 means unknown.
type Change struct {
	Points  float64 `json:"points,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	// PercentFrom is the lowest baseline to which the percentage applies.
	PercentFrom float64 `json:"percent_from,omitempty"`
	Note        string  `json:"note,omitempty"`
}

// LOINC holds the LOINC codes of an instrument.
type LOINC struct {
	Panel string   `json:"panel,omitempty"`
	Score string   `json:"score,omitempty"`
	Items []string `json:"items,omitempty"`
}

// All lists the instruments.
func All() []Info { return slices.Clone(table) }

// Names lists the names of the instruments in table order.
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

// MaxItems is the maximum number of items of an instrument.
const MaxItems = 24

// Missing marks an unanswered item.
const Missing = math.MinInt8

// Answers are the items in order.
type Answers [MaxItems]int8

// Status is how a score was obtained.
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
	Raw      float64 // sum of the answers; not set if unscorable
	Exact    float64 // before rounding
	Score    float64
	Band     string
	Positive bool
	Safety   bool // also set if unscorable
}

// Score calculates the score from the answers.
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

// HasCutOff reports whether the instrument has a cut-off for a positive
// screen.
func (i *Info) HasCutOff() bool { return i.Positive != 0 }

// IsPositive reports whether a score reaches the cut-off.
func (i *Info) IsPositive(score float64) bool { return i.HasCutOff() && score >= i.Positive }

// InRange reports whether a total is possible on the instrument.
func (i *Info) InRange(score float64) bool {
	return score >= i.ScoreMin && score <= i.ScoreMax && (!i.Whole || score == math.Trunc(score))
}

func mean(sum float64, answered, _ int) float64 { return sum / float64(answered) }

func plainSum(sum float64, _, _ int) float64 { return sum }

// substituted returns the sum with missing answers replaced by the mean of the
// others.
func substituted(sum float64, answered, items int) float64 {
	return sum * float64(items) / float64(answered)
}
