package client

// Figures are the parts of the analytics. Each says by which definition it was
// made and of how many patients; the service's docs/analytics.md explains the
// definitions. What is not known, or hidden by MinCellSize, is nil.

// Count is a number of patients.
type Count struct {
	Count      *int `json:"count"`
	Suppressed bool `json:"suppressed"`
}

// Interval95 is a 95 % confidence interval.
type Interval95 struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// GroupShare is one group of a whole.
type GroupShare struct {
	Group      string   `json:"group"`
	Count      *int     `json:"count"`
	Percent    *float64 `json:"percent"`
	Suppressed bool     `json:"suppressed"`
}

// GroupSplit is a whole cut into groups, each patient in one of them.
type GroupSplit struct {
	Definition  string       `json:"definition"`
	Denominator string       `json:"denominator"`
	N           *int         `json:"n"`
	Groups      []GroupShare `json:"groups"`
	Suppressed  bool         `json:"suppressed"`
}

// Proportion is how many of n patients have something, with Wilson's interval.
// The interval is of the proportion, from 0 to 1.
type Proportion struct {
	Definition  string      `json:"definition"`
	Denominator string      `json:"denominator"`
	Count       *int        `json:"count"`
	N           *int        `json:"n"`
	Proportion  *float64    `json:"proportion"`
	Percent     *float64    `json:"percent"`
	CI95        *Interval95 `json:"ci95"`
	Unstable    bool        `json:"unstable"` // n < 10
	Suppressed  bool        `json:"suppressed"`
	// Undetermined is how many more patients there are of whom what is known
	// does not decide it; they are not in n. It is null where there is no such.
	Undetermined *int `json:"undetermined"`
}

// Mean is a mean over patients, one value each, with Student's interval.
type Mean struct {
	Definition string      `json:"definition"`
	N          *int        `json:"n"`
	Mean       *float64    `json:"mean"`
	SD         *float64    `json:"sd"`
	CI95       *Interval95 `json:"ci95"`
	Unstable   bool        `json:"unstable"` // n < 10
	Suppressed bool        `json:"suppressed"`
}
