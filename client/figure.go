package client

// Figures are the building blocks of the analytics. Each has the definition it
// follows and the number of patients it covers; docs/analytics.md of the
// service explains the definitions. Values that are unknown, or hidden by
// MinCellSize, are nil.

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

// GroupSplit divides a whole into groups, with each patient in exactly one.
type GroupSplit struct {
	Definition  string       `json:"definition"`
	Denominator string       `json:"denominator"`
	N           *int         `json:"n"`
	Groups      []GroupShare `json:"groups"`
	Suppressed  bool         `json:"suppressed"`
}

// Proportion is the proportion of n patients with some property, with Wilson's
// interval, which ranges from 0 to 1.
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
	// Undetermined counts further patients whose data does not decide whether
	// they have the property; they are not in N. It is null for
	// measures that are always determined.
	Undetermined *int `json:"undetermined"`
}

// Mean is a mean over patients, with one value per patient and Student's
// interval.
type Mean struct {
	Definition string      `json:"definition"`
	N          *int        `json:"n"`
	Mean       *float64    `json:"mean"`
	SD         *float64    `json:"sd"`
	CI95       *Interval95 `json:"ci95"`
	Unstable   bool        `json:"unstable"` // n < 10
	Suppressed bool        `json:"suppressed"`
}
