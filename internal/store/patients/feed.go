package patients

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// The feed lists the records of an organisation in the order in which they
// changed. That order is the journal's: every entry about records names them,
// and entries get their positions after the commit, so that a reader who
// continues after a position misses nothing. The feed shows each named record
// as it is at the time of reading; a later change has a later position.

// FeedCursor is a place in the feed: the position of a journal entry, and how
// many of the records named by it precede the place. The zero value is the
// start of the feed.
type FeedCursor struct {
	Pos  journal.Pos
	Skip int
	// Life is that of the database, 0 if it was never restored from a backup.
	// After a restore, the position may be that of another entry.
	Life int64
}

// FeedQuery selects a page of the feed.
type FeedQuery struct {
	From FeedCursor
	// Types are the selected types. If empty, all types are selected.
	Types []pain.DataType
	// Limit is the maximum number of records.
	Limit int
}

// FeedPage is a page of the feed. It can have fewer records than the limit, or
// none, even if there is more to read: what a page costs depends on its limit,
// not on how far away the next record of a selected type is.
type FeedPage struct {
	// Records are in the order in which they changed. A record that changed
	// twice is in the feed twice.
	Records []pain.Record
	// Removed are the patients who were merged into another or erased at the
	// places that the page covers. No record on this page or a later one is of
	// them: what was moved is listed again with the other patient.
	Removed []id.Patient
	// Next is where the next page begins, and More is false if that is the end
	// of the feed for now.
	Next FeedCursor
	More bool
}

const (
	// feedSpan is the number of journal entries that a page looks at for each
	// record that it may have. Not all of them are about records of the selected
	// types.
	feedSpan = 10
	// feedEntryBytes is the size of the entries that a page reads for each
	// record that it may have. An entry that names one record has about 130
	// bytes, one that names a thousand has 33 for each.
	feedEntryBytes = 160
)

// Some tests reduce these.
var (
	// feedSpanLeast is the number of journal entries that a page looks at even
	// if its limit is low.
	feedSpanLeast = 1000
	// feedPageBytes is the size of its records at which a page ends.
	feedPageBytes = 8 << 20
)

// feedEntries returns the head of the journal, how the entries of the feed
// between two positions were measured, and those that fit: entries are read in
// order until their sizes add up. Sizes are known without reading the data.
const feedEntries = `SELECT h.pos, w.seen, w.beyond, coalesce(w.last, 0), j.pos, j.event_type, j.event_data,
	(SELECT value FROM setting WHERE name = 'life') FROM journal_head h
	CROSS JOIN (SELECT count(*) AS seen, count(CASE WHEN before >= $5 THEN 1 END) AS beyond, max(CASE WHEN before < $5 THEN pos END) AS last FROM (
		SELECT pos, sum(size) OVER (ORDER BY pos) - size AS before FROM (
			SELECT pos, octet_length(event_data) AS size FROM journal WHERE org_no = $1 AND pos >= $2 AND pos < $3
			AND event_type IN ('clinical_data.updated', 'patient.merged', 'patient.erased') AND event_data IS NOT NULL ORDER BY pos LIMIT $4) AS ahead) AS measured) AS w
	LEFT JOIN journal j ON j.org_no = $1 AND j.pos >= $2 AND j.pos < $3 AND j.pos <= w.last
		AND j.event_type IN ('clinical_data.updated', 'patient.merged', 'patient.erased') AND j.event_data IS NOT NULL
	WHERE h.org_no = $1 ORDER BY j.pos`

// ErrBeyondFeed is returned for a cursor from beyond the end of the feed. It
// was issued before an older backup was restored, or by another organisation.
var ErrBeyondFeed = errors.New("the cursor is beyond the end of the feed")

// ErrFeedRestarted is returned for a cursor that was issued before the database
// was restored from a backup.
var ErrFeedRestarted = errors.New("the database was restored since the cursor was issued")

// Feed reads a page of the feed. All records of a page are from one snapshot.
func (o Org) Feed(ctx context.Context, q FeedQuery) (FeedPage, error) {
	var read feedRead
	err := o.db.Snapshot(ctx, func(tx engine.Tx) error {
		read = newFeedRead(&q)
		if err := tx.Query(feedEntries, read.entry, int64(o.org), int64(q.From.Pos), int64(read.stop), int64(read.entries), int64(read.bytes)); err != nil {
			return err
		}
		if len(read.places) > 0 {
			types := (&RecordQuery{Types: q.Types}).types()
			tx.Last(engine.Stmt{SQL: o.db.Dialect().Identified, Args: []any{int64(o.org), read.list(), types, int64(q.Limit)}, Each: read.record})
		}
		return nil
	})
	if err == nil && q.From.Pos > read.head+1 {
		err = ErrBeyondFeed
	}
	if err == nil && read.seen && q.From != (FeedCursor{}) && q.From.Life != read.life {
		err = ErrFeedRestarted
	}
	if err != nil {
		return FeedPage{}, err
	}
	return read.page(), nil
}

// feedRead collects a page of the feed.
type feedRead struct {
	q *FeedQuery
	// stop is the position before which entries are looked at; entries, bytes
	// and records are how many entries of the feed, of which size, and how many
	// of the records named by them are read at most.
	stop                    journal.Pos
	entries, bytes, records int
	patterns                [][]byte // the names of the selected types

	seen bool // a row
	head journal.Pos
	life int64
	// until is the position before which all entries of the feed are known.
	until   journal.Pos
	places  []feedPlace
	removed []removedAt
	// cut is the index of the first place that belongs to the next page.
	cut   int
	size  int
	shown []pain.Record
}

// feedPlace is a record named by an entry.
type feedPlace struct {
	at     FeedCursor
	record id.Record
}

type removedAt struct {
	pos     journal.Pos
	patient id.Patient
}

func newFeedRead(q *FeedQuery) feedRead {
	span := journal.Pos(max(feedSpanLeast, feedSpan*q.Limit))
	f := feedRead{q: q, stop: q.From.Pos + span, entries: q.Limit, records: q.Limit, bytes: feedEntryBytes * q.Limit, until: q.From.Pos}
	if len(q.Types) > 0 { // not all of what is read is selected
		f.entries, f.records, f.bytes = int(span), feedSpan*q.Limit, feedSpan*f.bytes
	}
	for _, t := range q.Types {
		f.patterns = append(f.patterns, []byte(`"`+t.String()+`"`))
	}
	return f
}

// entry takes a row of feedEntries.
func (f *feedRead) entry(r engine.Row) error {
	f.seen, f.head = true, journal.Pos(r.Int(0))
	if !r.IsNull(7) {
		f.life = int64(binary.BigEndian.Uint64(r.Raw(7)))
	}
	if seen, beyond := int(r.Int(1)), r.Int(2); seen == f.entries || beyond > 0 {
		f.until = journal.Pos(r.Int(3)) + 1
	} else {
		f.until = min(f.stop, f.head+1)
	}
	if r.IsNull(4) {
		return nil // there is no entry
	}
	pos, data := journal.Pos(r.Int(4)), r.Raw(6)
	if event.Type(r.Text(5)) != event.ClinicalDataUpdated {
		var gone struct {
			Patient id.Patient `json:"patient_id"`
		}
		if err := json.Unmarshal(data, &gone); err != nil {
			return fmt.Errorf("journal entry %d: %w", pos, err)
		}
		f.removed = append(f.removed, removedAt{pos, gone.Patient})
		return nil
	}
	if len(f.places) > f.records || !f.selects(data) {
		return nil
	}
	records, err := event.Records(data)
	if err != nil {
		return fmt.Errorf("journal entry %d: %w", pos, err)
	}
	skip := 0
	if pos == f.q.From.Pos {
		skip = min(f.q.From.Skip, len(records))
	}
	for i, record := range records[skip:] {
		f.places = append(f.places, feedPlace{FeedCursor{pos, skip + i, f.life}, record})
	}
	return nil
}

// selects reports whether an entry is about records of a selected type.
func (f *feedRead) selects(data []byte) bool {
	for _, name := range f.patterns {
		if bytes.Contains(data, name) {
			return true
		}
	}
	return len(f.patterns) == 0
}

// list returns the records to read, as JSON, and sets the cut behind them.
func (f *feedRead) list() string {
	f.cut = min(len(f.places), f.records)
	b := make([]byte, 0, f.cut*35+1)
	for i := range f.places[:f.cut] {
		b = append(append(b, "[,"[min(i, 1)]), '"')
		b = append(hex.AppendEncode(b, f.places[i].record.Bytes()), '"')
	}
	return string(append(b, ']'))
}

// record takes a row of Dialect.Identified. Records that no longer exist are
// not among them.
func (f *feedRead) record(r engine.Row) error {
	at := int(r.Int(11))
	if at >= f.cut {
		return nil
	}
	patientID, err := id.FromBytes[id.PatientKind](r.Raw(12))
	if err != nil {
		return err
	}
	rec, err := scanRecord(r, patientID)
	f.shown = append(f.shown, rec)
	f.size += len(rec.Value.JSON()) + len(rec.Notes)
	if len(f.shown) == f.q.Limit || f.size >= feedPageBytes {
		f.cut = at + 1
	}
	return err
}

// page returns what was read.
func (f *feedRead) page() FeedPage {
	p := FeedPage{Records: f.shown, Next: FeedCursor{Pos: f.until, Life: f.life}}
	if f.cut < len(f.places) {
		p.Next = f.places[f.cut].at
	}
	for _, r := range f.removed {
		if r.pos < p.Next.Pos {
			p.Removed = append(p.Removed, r.patient)
		}
	}
	p.More = p.Next.Pos <= f.head
	return p
}

// relistAtOnce is the number of records named by one entry, which is that of
// the largest request.
const relistAtOnce = 1000

// relist returns the statements that put records of a patient at the end of the
// feed after a change that is no event of its own, such as another derivation
// or another patient_id. types are those of the records, and line is the audit
// line of the change; it is repeated if there are more records than an entry
// names.
func (o Org) relist(line audit.Entry, patientID id.Patient, records []id.Record, types []pain.DataType) (stmts []engine.Stmt) {
	if len(records) == 0 {
		return o.journal.Entry(o.org, journal.Change{Audit: line, Subject: patientID})
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	for first := 0; first < len(records); first += relistAtOnce {
		some := records[first:min(first+relistAtOnce, len(records))]
		stmts = append(stmts, o.journal.Entry(o.org, journal.Change{
			Audit: line, Event: event.ClinicalData(line.At, patientID, some, names), Subject: patientID, Quiet: true,
		})...)
	}
	return stmts
}
