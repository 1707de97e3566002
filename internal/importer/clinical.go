package importer

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// groupLines is the number of records of one patient that are stored together,
// with one event.
const groupLines = 100

// heldLines is the number of lines that wait for others of the same patient.
// Tests lower it.
var heldLines = 50_000

// recordBuilder groups records by patient, and groups into chunks.
type recordBuilder struct {
	*job
	ctx context.Context
	// aliases are those at the start; the store detects changes.
	aliases *pain.Aliases
	send    func(chunk) error
	groups  map[id.Patient]*group
	order   []id.Patient // of the groups
	held    int
	chunk   recordChunk
	size    int // lines in the chunk
}

// group holds the lines of one patient.
type group struct {
	patients.ImportedRecords
	at []int // line numbers
}

func newRecordBuilder(ctx context.Context, j *job, aliases *pain.Aliases, send func(chunk) error) *recordBuilder {
	return &recordBuilder{job: j, ctx: ctx, aliases: aliases, send: send, groups: map[id.Patient]*group{}}
}

func (b *recordBuilder) take(r row, e entry) error {
	object, err := strictjson.Parse(e.body)
	if err != nil {
		return err
	}
	now := b.Now()
	patient, birth, missing := b.people.find(b.ctx, e)
	if _, ok := faultsOf(missing); missing != nil && !ok {
		return missing
	}
	var fields fault.Fields
	record := pain.NewRecord(object, &fields, pain.Intake{PatientID: patient, Birth: birth, Now: now, Aliases: b.aliases, NewID: func() id.Record { return id.New[id.RecordKind](now) }})
	// The API treats records without a time as current. In a file they are from
	// the past, at an unknown time.
	reader := strictjson.Read(object, &fields)
	if at, ok := reader.Value("recorded_at"); !ok || isEmpty(at) {
		fields.Add("recorded_at", nil, "recorded_at is required in an import.")
	}
	if err := fields.Err(); err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	if record.Source == "" {
		record.Source = "import"
	}
	return b.add(r.line, b.repeats.number(contentOf(Clinical, &e)).Beside(patient), record)
}

func isEmpty(v strictjson.Value) bool {
	text, isText := v.AsString()
	return isText && text == ""
}

func (b *recordBuilder) add(line int, hash patients.ImportHash, record pain.Record) error {
	g := b.groups[record.PatientID]
	if g == nil {
		g = &group{}
		g.Patient, g.Change = record.PatientID, func(added []pain.Record) journal.Change { return changeOf(b.Now, added) }
		b.groups[record.PatientID] = g
		b.order = append(b.order, record.PatientID)
	}
	g.Records, g.Hashes, g.at = append(g.Records, record), append(g.Hashes, hash), append(g.at, line)
	b.held++
	if len(g.Records) == groupLines {
		delete(b.groups, record.PatientID) // its place in the order stays empty
		return b.pack(g)
	}
	if b.held >= heldLines {
		return b.packAll()
	}
	return nil
}

// pack adds a group to the chunk.
func (b *recordBuilder) pack(g *group) error {
	b.held -= len(g.Records)
	if slices.ContainsFunc(b.chunk, func(other *group) bool { return other.Patient == g.Patient }) {
		if err := b.flush(); err != nil { // so that the journal has them in this order
			return err
		}
	}
	g.Prepare()
	b.chunk = append(b.chunk, g)
	if b.size += len(g.Records); b.size >= chunkLines {
		return b.flush()
	}
	return nil
}

// packAll packs the remaining groups, ordered by patient like the records in
// the database.
func (b *recordBuilder) packAll() error {
	slices.SortFunc(b.order, func(x, y id.Patient) int { return bytes.Compare(x.Bytes(), y.Bytes()) })
	for _, patient := range b.order {
		g := b.groups[patient]
		if g == nil {
			continue
		}
		delete(b.groups, patient)
		if err := b.pack(g); err != nil {
			return err
		}
	}
	b.order = b.order[:0]
	return nil
}

func (b *recordBuilder) flush() error {
	if len(b.chunk) == 0 {
		return nil
	}
	c := b.chunk
	b.chunk, b.size = nil, 0
	return b.send(c)
}

func (b *recordBuilder) finish() error {
	if err := b.packAll(); err != nil {
		return err
	}
	return b.flush()
}

type recordChunk []*group

func (c recordChunk) lines() (n int64) {
	for _, g := range c {
		n += int64(len(g.Records))
	}
	return n
}

func (c recordChunk) join(other chunk) chunk { return append(c, other.(recordChunk)...) }

func (c recordChunk) keep(ctx context.Context, org store.Org, refuse func(row, error) error) (int64, error) {
	groups := make([]patients.ImportedRecords, len(c))
	for i, g := range c {
		groups[i] = g.ImportedRecords
	}
	added, missing, err := org.ImportRecords(ctx, groups)
	if err != nil {
		return int64(added), err
	}
	for _, i := range missing {
		for _, line := range c[i].at {
			if err := refuse(row{line: line}, fault.Missing("patient", "")); err != nil {
				return int64(added), err
			}
		}
	}
	return int64(added), nil
}

func (c recordChunk) preview(ctx context.Context, org store.Org, _ func(row, error) error) (int64, error) {
	var hashes []patients.ImportHash
	for _, g := range c {
		hashes = append(hashes, g.Hashes...)
	}
	there, err := org.ImportedLines(ctx, hashes)
	return c.lines() - int64(there), err
}

// changeOf returns the change for some records of one patient.
func changeOf(now func() time.Time, added []pain.Record) journal.Change {
	at, patient := now(), added[0].PatientID
	ids := make([]id.Record, len(added))
	for i := range added {
		ids[i] = added[i].ID
	}
	details := append(strconv.AppendInt([]byte(`{"count":`), int64(len(added)), 10), `,"import":true}`...)
	return journal.Change{
		Audit:   audit.Entry{At: at, Actor: audit.Operator, Action: audit.ClinicalCreate, Resource: patient.String(), Details: details},
		Event:   event.ClinicalData(at, patient, ids, pain.TypeNames(added)),
		Subject: patient,
	}
}
