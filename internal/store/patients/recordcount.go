package patients

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// Records are counted by day, type and whether they are active, so that a list
// can return its total and find a deep page without reading the records. The
// counts of 128 days are stored in one row, updated in the transaction of every
// write; migration 0009 describes their format.

const (
	periodDays = 128
	// daySlots is the number of slots of a day: two for each type number.
	daySlots  = 32
	dayMillis = 24 * 60 * 60 * 1000
	// beforeEpoch is the time from 0001-01-01, day 0, to 1970.
	beforeEpoch = 62135596800000
)

// This does not compile if a data type does not fit: it would be counted on the
// next day. Widening a day changes the stored format, and needs a migration.
const _ = uint(daySlots - 2*(int(pain.LastDataType)+1))

// day counts days from 0001-01-01, before which there are no records.
type day int64

func dayOf(t time.Time) day { return dayAt(engine.Millis(t)) }

func dayAt(millis int64) day { return day((millis + beforeEpoch) / dayMillis) }

// start returns the first millisecond of a day.
func (d day) start() int64 { return int64(d)*dayMillis - beforeEpoch }

func (d day) period() int64 { return int64(d) / periodDays }

func periodAt(millis int64) int64 { return dayAt(millis).period() }

// slot identifies a day of a period, a type, and whether the records are
// active.
type slot int64

func slotOf(rec *pain.Record) slot {
	s := slot(int64(dayOf(rec.RecordedAt))%periodDays*daySlots + int64(rec.Type)*2)
	if !rec.Status.Active() {
		s++
	}
	return s
}

func (s slot) day(period int64) day    { return day(period*periodDays + int64(s)/daySlots) }
func (s slot) dataType() pain.DataType { return pain.DataType(s % daySlots / 2) }
func (s slot) stands() bool            { return s%2 == 0 }

// recordCounts is a change of the number of records by period and slot.
type recordCounts []slotCount

// slotCount is the number of records in a slot. A correction may lower it.
type slotCount struct {
	period int64
	slot   slot
	n      int64
}

// countsOf counts records.
func countsOf(records []pain.Record) recordCounts {
	c := make(recordCounts, 0, len(records))
	for i := range records {
		c.add(&records[i], 1)
	}
	return c.summed()
}

func (c *recordCounts) add(rec *pain.Record, n int64) {
	*c = append(*c, slotCount{dayOf(rec.RecordedAt).period(), slotOf(rec), n})
}

// correct adds the change of a correction.
func (c *recordCounts) correct(old *pain.Record, correction *pain.Correction) {
	c.add(old, -1)
	c.add(&correction.Old, 1)
	if correction.Replaced {
		c.add(&correction.New, 1)
	}
}

// summed returns the counts in order, with one number for each slot. It
// reuses the memory of c.
func (c recordCounts) summed() recordCounts {
	slices.SortFunc(c, func(a, b slotCount) int { return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.slot, b.slot)) })
	sums := c[:0]
	for _, next := range c {
		if last := len(sums) - 1; last >= 0 && sums[last].period == next.period && sums[last].slot == next.slot {
			sums[last].n += next.n
		} else {
			sums = append(sums, next)
		}
	}
	return sums
}

// periods returns the first and the last period of the counts, which are in
// order.
func (c recordCounts) periods() (first, last int64) { return c[0].period, c[len(c)-1].period }

// selectCounts returns the statement that reads a patient's counts of a range of
// periods.
func (o Org) selectCounts(who patientRef, first, last int64, into map[int64][]byte) engine.Stmt {
	return engine.Stmt{SQL: `SELECT period, counts FROM record_count WHERE org_no = $1 AND patient_no = ` + who.sql + ` AND period BETWEEN $3 AND $4`,
		Args: []any{int64(o.org), who.arg, first, last},
		Each: func(r engine.Row) error {
			into[r.Int(0)] = bytes.Clone(r.Raw(1))
			return nil
		}}
}

// keepCounts adds a change, which is in order, to a patient's stored counts at
// the end of the transaction.
func (o Org) keepCounts(tx engine.Tx, patientNo int64, stored map[int64][]byte, change recordCounts) error {
	for len(change) > 0 {
		period, n := change[0].period, 1
		for n < len(change) && change[n].period == period {
			n++
		}
		packed, err := addCounts(stored[period], change[:n])
		if err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `INSERT INTO record_count (org_no, patient_no, period, counts) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_no, patient_no, period) DO UPDATE SET counts = excluded.counts`, Alike: 2,
			Args: []any{int64(o.org), patientNo, period, packed}})
		change = change[n:]
	}
	return nil
}

// addCounts adds a change of one period to its encoded counts.
func addCounts(packed []byte, change recordCounts) (string, error) {
	b := make([]byte, 0, len(packed)+8*len(change))
	keep := func(s slot, n int64) {
		if n == 0 {
			return
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(s), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, n, 10)
	}
	err := eachCount(packed, func(s slot, n int64) {
		for ; len(change) > 0 && change[0].slot < s; change = change[1:] {
			keep(change[0].slot, change[0].n)
		}
		if len(change) > 0 && change[0].slot == s {
			n, change = n+change[0].n, change[1:]
		}
		keep(s, n)
	})
	for _, c := range change {
		keep(c.slot, c.n)
	}
	return string(b), err
}

// eachCount decodes stored counts, ordered by slot. Every list depends on its
// speed: ten years with records on every day are about ten thousand pairs.
func eachCount(packed []byte, each func(s slot, n int64)) error {
	var pair [2]int64
	at, digits := 0, false
	for i := 0; i <= len(packed); i++ {
		if i < len(packed) && packed[i]-'0' <= 9 {
			pair[at], digits = pair[at]*10+int64(packed[i]-'0'), true
			continue
		}
		if i < len(packed) && packed[i] != ' ' || !digits && len(packed) > 0 {
			return errCounts
		}
		if at++; at == 2 {
			each(slot(pair[0]), pair[1])
			pair, at = [2]int64{}, 0
		}
		digits = false
	}
	if at == 1 && len(packed) > 0 {
		return errCounts
	}
	return nil
}

var errCounts = errors.New("a patient's record counts cannot be read; run: anodyne check --repair")

// matched is the number of records of a patient that match a query, by day in
// ascending order.
type matched []dayCount

type dayCount struct {
	day day
	n   int64
}

// take adds the counts of a row that match the query. Rows come in order.
func (m *matched) take(q *RecordQuery, period int64, packed []byte) error {
	first, end, types := q.firstDay(), q.endDay(), q.types()
	return eachCount(packed, func(s slot, n int64) {
		d := s.day(period)
		if d < first || d >= end || types>>s.dataType()&1 == 0 || !s.stands() && !q.Inactive {
			return
		}
		if last := len(*m) - 1; last >= 0 && (*m)[last].day == d {
			(*m)[last].n += n
			return
		}
		*m = append(*m, dayCount{d, n})
	})
}

func (m matched) total() (total int64) {
	for _, d := range m {
		total += d.n
	}
	return total
}

// before returns the number of records before those of a day, in the order of
// the query.
func (m matched) before(q *RecordQuery, at day) (n int64) {
	for _, d := range m {
		if !q.Descending && d.day < at || q.Descending && d.day > at {
			n += d.n
		}
	}
	return n
}

// begin returns the day on which the page of a query begins, and the number of
// records before that day. A page past the end begins after all days.
func (m matched) begin(q *RecordQuery) (begin day, skipped int64) {
	for i := range m {
		d := m[i]
		if q.Descending {
			d = m[len(m)-1-i]
		}
		if skipped+d.n > q.offset() {
			return d.day, skipped
		}
		skipped += d.n
	}
	if q.Descending {
		return q.firstDay() - 1, skipped
	}
	return q.endDay(), skipped
}
