package patients

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/id"
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

func dayOf(t time.Time) day { return day((engine.Millis(t) + beforeEpoch) / dayMillis) }

// start returns the first millisecond of a day.
func (d day) start() int64 { return int64(d)*dayMillis - beforeEpoch }

func (d day) period() int64 { return int64(d) / periodDays }

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

// recordCounts is the number of records by period and slot. If it represents a
// change, numbers may be negative.
type recordCounts map[int64]map[slot]int64

// countsOf counts records.
func countsOf(records []pain.Record) recordCounts {
	c := recordCounts{}
	for i := range records {
		c.add(&records[i], 1)
	}
	return c
}

func (c recordCounts) add(rec *pain.Record, n int64) {
	period := dayOf(rec.RecordedAt).period()
	if c[period] == nil {
		c[period] = map[slot]int64{}
	}
	c[period][slotOf(rec)] += n
}

// correct adds the change of a correction.
func (c recordCounts) correct(old *pain.Record, correction *pain.Correction) {
	c.add(old, -1)
	c.add(&correction.Old, 1)
	if correction.Replaced {
		c.add(&correction.New, 1)
	}
}

// selectCounts returns the statement that reads a patient's counts of the
// periods in change.
func (o Org) selectCounts(patientID id.Patient, change recordCounts, into map[int64][]byte) engine.Stmt {
	periods := slices.Sorted(maps.Keys(change))
	return engine.Stmt{SQL: `SELECT period, counts FROM record_count WHERE org_no = $1 AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
		AND period BETWEEN $3 AND $4`,
		Args: []any{int64(o.org), patientID.Bytes(), periods[0], periods[len(periods)-1]},
		Each: func(r engine.Row) error {
			into[r.Int(0)] = bytes.Clone(r.Raw(1))
			return nil
		}}
}

// keepCounts adds change to a patient's stored counts at the end of the
// transaction.
func (o Org) keepCounts(tx engine.Tx, patientNo int64, stored map[int64][]byte, change recordCounts) error {
	for _, period := range slices.Sorted(maps.Keys(change)) {
		sum := maps.Clone(change[period]) // do not modify change: the transaction may run again
		if err := eachCount(stored[period], func(s slot, n int64) { sum[s] += n }); err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `INSERT INTO record_count (org_no, patient_no, period, counts) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_no, patient_no, period) DO UPDATE SET counts = excluded.counts`, Alike: 2,
			Args: []any{int64(o.org), patientNo, period, packCounts(sum)}})
	}
	return nil
}

// packCounts encodes counts.
func packCounts(counts map[slot]int64) string {
	var b []byte
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		if counts[s] == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(s), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, counts[s], 10)
	}
	return string(b)
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
