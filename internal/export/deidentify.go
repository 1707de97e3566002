package export

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"hash"
	"math"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// oldest is the lowest age that de-identified data does not distinguish from
// higher ones.
const oldest = pain.OldestAge

// mostDays is the longest time in days that de-identified data has: a longer one
// tells that a person is over 89.
const mostDays = (oldest - 1) * 365.25

const millisecondsPerDay = 24 * 60 * 60 * 1000

// outlet is a column of a file: where it comes from and how it is changed.
type outlet struct {
	pain.Column
	from    int                                       // index among the columns of the table
	convert func(c pain.Cell, who *subject) pain.Cell // nil for no change
}

// outlets returns the columns of a file. The key of pseudonyms is nil for data
// that is not de-identified.
func outlets(columns []pain.Column, key []byte) []outlet {
	list := make([]outlet, 0, len(columns))
	for i, c := range columns {
		out := outlet{Column: c, from: i}
		if key != nil {
			var stays bool
			if out, stays = deidentified(out, key); !stays {
				continue
			}
		}
		list = append(list, out)
	}
	return list
}

// deidentified returns the de-identified form of a column, and whether there is
// one. A column without a decision is left out.
func deidentified(out outlet, key []byte) (outlet, bool) {
	switch out.Privacy {
	case pain.Kept:
		return out, true
	case pain.KeptIfKnown:
		out.convert = onlyKnown(out.Words)
		out.About = joined(out.About, "null if it is not one of the values that identify nobody")
		return out, true
	case pain.DaysOnly:
		out.convert = daysOf(out.Type)
		out.Name, out.Type, out.Unit = out.Name+"_day", pain.IntegerColumn, "d"
		out.About = joined(out.About, "days since the patient's first record; null beyond 89 years")
		return out, true
	case pain.AgeTo89:
		out.convert = func(c pain.Cell, _ *subject) pain.Cell {
			c.Number = math.Min(c.Number, oldest)
			return c
		}
		out.About = joined(out.About, "90 stands for 90 and over")
		return out, true
	case pain.Pseudonymous:
		out.convert = pseudonyms(key)
		out.About = joined(out.About, "a pseudonym, the same in every export of the organisation")
		return out, true
	}
	return out, false
}

// joined appends a remark to a description.
func joined(about, remark string) string {
	if about == "" {
		return remark
	}
	return about + "; " + remark
}

// onlyKnown replaces what is not in a list by null, and writes words as in the
// list.
func onlyKnown(words []string) func(pain.Cell, *subject) pain.Cell {
	return func(c pain.Cell, _ *subject) pain.Cell {
		for _, w := range words {
			if strings.EqualFold(w, c.Text) {
				return pain.TextCell(w)
			}
		}
		return pain.Cell{}
	}
}

// daysOf replaces dates of a column type by the days since the patient's first
// record.
func daysOf(t pain.ColumnType) func(pain.Cell, *subject) pain.Cell {
	return func(c pain.Cell, who *subject) pain.Cell {
		if !c.Set || !who.begun {
			return pain.Cell{}
		}
		switch t {
		case pain.DateColumn:
		case pain.MomentColumn:
			c.Number = math.Floor(c.Number / millisecondsPerDay)
		default: // a text that may be an incomplete date
			d, err := pain.ParseDate(c.Text)
			if err != nil {
				return pain.Cell{}
			}
			c = pain.DateCell(d)
		}
		days := c.Number - float64(who.firstDay)
		if math.Abs(days) > mostDays {
			return pain.Cell{}
		}
		return pain.NumberCell(days)
	}
}

// pseudonyms replaces identifiers by keyed pseudonyms: nobody without the key
// can compute one from an identifier, or the other way round. The result
// remembers the last one, because the rows of a patient follow each other.
func pseudonyms(key []byte) func(pain.Cell, *subject) pain.Cell {
	p := &pseudonym{mac: hmac.New(sha256.New, key)}
	return func(c pain.Cell, _ *subject) pain.Cell {
		if !c.Set {
			return c
		}
		return pain.TextCell(p.of(c.Text))
	}
}

type pseudonym struct {
	mac      hash.Hash
	id, name string
	sum      []byte
}

var lowerBase32 = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// pseudonymBytes is how much of the sum a pseudonym has.
const pseudonymBytes = 16

func (p *pseudonym) of(id string) string {
	if id != p.id {
		p.mac.Reset()
		p.mac.Write([]byte(id))
		p.sum = p.mac.Sum(p.sum[:0])
		p.id, p.name = id, "psn_"+lowerBase32.EncodeToString(p.sum[:pseudonymBytes])
	}
	return p.name
}
