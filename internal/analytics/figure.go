package analytics

// Figures are the parts of an answer. Each says by which definition it was
// made, which docs/analytics.md explains, and of how many patients. Suppressed
// is set when min_cell_size hides a number of it; that number is then null.

// Count is a number of patients.
type Count struct {
	Count      *int `json:"count"`
	Suppressed bool `json:"suppressed"`
}

// Bounds is a 95 % confidence interval.
type Bounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Share is one group of a whole.
type Share struct {
	Group      string   `json:"group"`
	Count      *int     `json:"count"`
	Percent    *float64 `json:"percent"`
	Suppressed bool     `json:"suppressed"`
}

// Split is a whole cut into groups, each patient in one of them.
type Split struct {
	Definition  string  `json:"definition"`
	Denominator string  `json:"denominator"`
	N           *int    `json:"n"`
	Groups      []Share `json:"groups"`
	Suppressed  bool    `json:"suppressed"`
}

// Proportion is how many of n patients have something, with Wilson's interval.
// The interval is of the proportion, from 0 to 1.
type Proportion struct {
	Definition  string   `json:"definition"`
	Denominator string   `json:"denominator"`
	Count       *int     `json:"count"`
	N           *int     `json:"n"`
	Proportion  *float64 `json:"proportion"`
	Percent     *float64 `json:"percent"`
	CI95        *Bounds  `json:"ci95"`
	Unstable    bool     `json:"unstable"` // n < 10
	Suppressed  bool     `json:"suppressed"`
	// Undetermined is how many more patients there are of whom what is known
	// does not decide it; they are not in n. It is null where there is no such.
	Undetermined *int `json:"undetermined"`
}

// Mean is a mean over patients, one value each, with Student's interval.
type Mean struct {
	Definition string   `json:"definition"`
	N          *int     `json:"n"`
	Mean       *float64 `json:"mean"`
	SD         *float64 `json:"sd"`
	CI95       *Bounds  `json:"ci95"`
	Unstable   bool     `json:"unstable"` // n < 10
	Suppressed bool     `json:"suppressed"`
}
