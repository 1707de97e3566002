package importer

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/giveway"
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

// heldLines is the number of lines that wait for others of the same patient, and
// firstHeld that at the beginning of a file, so that writing starts soon. Tests
// lower it.
var heldLines = 25_000

const (
	firstHeld = 1000
	// heldBytes bounds the size of the lines that wait.
	heldBytes = 16 << 20
)

// recordBuilder groups records by patient. A packer, in another goroutine, packs
// the groups into chunks while it reads on.
type recordBuilder struct {
	*job
	ctx context.Context
	// aliases are those at the start; the store detects changes.
	aliases *pain.Aliases
	known   pain.KnownValues
	groups  map[id.Patient]*group
	held    int // lines in the groups
	size    int // bytes of these lines
	most    int // lines to hold
	each    int // lines of a patient, as far as is known
	full    chan []*group
	packed  chan error
}

// group holds the lines of one patient.
type group struct {
	patients.ImportedRecords
	at   []int // line numbers
	size int   // bytes of the lines
}

// newGroup returns a group with memory for some lines.
func newGroup(lines int) *group {
	return &group{
		ImportedRecords: patients.ImportedRecords{Hashes: make([]patients.ImportHash, 0, lines), Records: make([]pain.Record, 0, lines)},
		at:              make([]int, 0, lines),
	}
}

// newRecordBuilder returns a builder, which must be finished.
func newRecordBuilder(ctx context.Context, j *job, aliases *pain.Aliases, send func(chunk) error) *recordBuilder {
	b := &recordBuilder{job: j, ctx: ctx, aliases: aliases, known: pain.KnownValues{}, groups: map[id.Patient]*group{}, most: min(firstHeld, heldLines), full: make(chan []*group), packed: make(chan error, 1)}
	go func() {
		p := packer{org: j.Org, send: send}
		b.packed <- p.pack(b.full)
	}()
	return b
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
	record := pain.NewRecord(object, &fields, pain.Intake{PatientID: patient, Birth: birth, Now: now, Aliases: b.aliases, Known: b.known, NewID: func() id.Record { return id.New[id.RecordKind](now) }})
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
	hash, err := b.repeats.number(&e, contentOf(Clinical, &e))
	if err != nil {
		return err
	}
	return b.add(r.line, hash.Beside(patient), record, len(e.body))
}

func isEmpty(v strictjson.Value) bool {
	text, isText := v.AsString()
	return isText && text == ""
}

func (b *recordBuilder) add(line int, hash patients.ImportHash, record pain.Record, size int) error {
	g := b.groups[record.PatientID]
	if g == nil {
		g = newGroup(b.expected())
		g.Patient, g.Change = record.PatientID, func(added []pain.Record) journal.Change { return changeOf(b.Now, added) }
		b.groups[record.PatientID] = g
	}
	g.Records, g.Hashes, g.at = append(g.Records, record), append(g.Hashes, hash), append(g.at, line)
	g.size += size
	b.held, b.size = b.held+1, b.size+size
	if len(g.Records) == groupLines || g.size >= chunkBytes {
		delete(b.groups, record.PatientID)
		b.held, b.size = b.held-len(g.Records), b.size-g.size
		return b.pass([]*group{g})
	}
	if b.held >= b.most || b.size >= heldBytes {
		return b.release()
	}
	return nil
}

// expected returns the number of lines that another patient probably has. It is 0
// if there already are as many patients as were expected, so that the memory
// reserved for lines is bounded.
func (b *recordBuilder) expected() int {
	if (len(b.groups)+1)*b.each > b.most {
		return 0
	}
	return b.each
}

// pass passes groups to the packer, or returns why that has ended.
func (b *recordBuilder) pass(groups []*group) error {
	select {
	case b.full <- groups:
		return nil
	case err := <-b.packed:
		b.packed <- err // for finish
		return err
	}
}

// release passes on all groups, ordered by patient like the records in the
// database.
func (b *recordBuilder) release() error {
	all := slices.Collect(maps.Values(b.groups))
	slices.SortFunc(all, func(x, y *group) int { return bytes.Compare(x.Patient.Bytes(), y.Patient.Bytes()) })
	b.each = b.held / max(1, len(all))
	clear(b.groups)
	b.held, b.size, b.most = 0, 0, min(2*b.most, heldLines)
	return b.pass(all)
}

func (b *recordBuilder) finish(err error) error {
	if err == nil {
		err = b.release()
	}
	close(b.full)
	return cmp.Or(err, <-b.packed)
}

// packer packs groups into chunks.
type packer struct {
	org   store.Org
	send  func(chunk) error
	chunk recordChunk
	lines int // in the chunk
	size  int // bytes of these lines
}

// pack packs all groups that come.
func (p *packer) pack(from <-chan []*group) error {
	var points giveway.Points
	for groups := range from {
		for _, g := range groups {
			points.Point()
			if err := p.add(g); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

// add adds a group to the chunk.
func (p *packer) add(g *group) error {
	if slices.ContainsFunc(p.chunk, func(other *group) bool { return other.Patient == g.Patient }) {
		if err := p.flush(); err != nil { // so that the journal has them in this order
			return err
		}
	}
	if err := p.org.Ready(&g.ImportedRecords); err != nil {
		return err
	}
	p.chunk, p.lines, p.size = append(p.chunk, g), p.lines+len(g.Records), p.size+g.size
	if p.lines >= chunkLines || p.size >= chunkBytes {
		return p.flush()
	}
	return nil
}

func (p *packer) flush() error {
	if len(p.chunk) == 0 {
		return nil
	}
	c := p.chunk
	p.chunk, p.lines, p.size = nil, 0, 0
	return p.send(c)
}

type recordChunk []*group

func (c recordChunk) lines() (n int64) {
	for _, g := range c {
		n += int64(len(g.Records))
	}
	return n
}

func (c recordChunk) bytes() (n int) {
	for _, g := range c {
		n += g.size
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
