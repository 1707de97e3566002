package cohort

import "anodyne.example/anodyne/internal/pain"

// Query selects patients and a page of them. The zero value of a condition has
// no effect.
type Query struct {
	// Term is a search term: a part of a name or beginnings of its words, the
	// start of an identifier's value, or, if it starts with "pat_", that of the
	// patient's own identifier.
	Term string
	// Identifier is an identifier of the patient. Its system may be "", which
	// stands for any.
	Identifier pain.Identifier
	// Born is the date of birth.
	Born  pain.Date
	Order Order
	// Page starts at 1.
	Page, Limit int64
}

// Order is the order of a list of patients.
type Order string

// The orders. Names are ordered as they are compared for searching, without
// case and accents; patients with the same name are in order of creation.
const (
	OldestFirst Order = "created_at"
	LatestFirst Order = "-created_at"
	ByName      Order = "name"
	ByNameDown  Order = "-name"
)

// Orders lists the orders.
func Orders() []string {
	return []string{string(OldestFirst), string(LatestFirst), string(ByName), string(ByNameDown)}
}

func (o Order) byName() bool { return o == ByName || o == ByNameDown }

// Plain reports whether a query has no conditions.
func (q *Query) Plain() bool {
	return q.Term == "" && q.Identifier == (pain.Identifier{}) && q.Born == (pain.Date{})
}

// born is a date of birth in a chunk, or 0 for none.
type born uint32

func bornOn(d pain.Date) born { return born(d.Year)<<9 | born(d.Month)<<5 | born(d.Day) }
