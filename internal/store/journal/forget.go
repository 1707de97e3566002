package journal

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
)

// Forgetting removes the details of audit lines from an organisation's sealed
// log. The log is walked from its start, once as it is and once without the
// details: the first chain must have the seal that is stored, and the second
// gives the seal that replaces it. So a log that was altered is not sealed
// again, and only a process with the key can remove details.
//
// The entries up to the seal are walked before the transaction, because a long
// log takes a while; [Forgetting.Apply] continues from there.
type Forgetting struct {
	s   System
	org access.OrgNo
	// resources are the identifiers of what is forgotten, as in audit lines.
	resources [][]byte
	was, is   *audit.Sealer
	at        Pos
	lines     map[Pos][]byte
	events    map[string]bool
	buf       []byte
	alone     bool
}

// ErrForgetAgain is returned by [Forgetting.Apply] if the log was sealed again
// in the meantime. The caller must start over with Forget.
var ErrForgetAgain = errors.New("the log was sealed again meanwhile")

// Forget prepares to forget the details of all audit lines about some
// resources. alone is for a copy of a database of which no node has a record:
// there is nothing to compare it with, and no acceptance is stored, because
// someone could copy the acceptance into the database in service.
func (s System) Forget(ctx context.Context, org access.OrgNo, alone bool, resources ...string) (*Forgetting, error) {
	if err := s.j.For(org).FlushReads(ctx); err != nil {
		return nil, err
	}
	read := s.soundJournal
	if alone {
		read = s.readJournal
	}
	j, err := read(ctx, org)
	if err != nil {
		return nil, err
	}
	f := &Forgetting{s: s, org: org, alone: alone, was: audit.NewSealer(s.j.auditKey, audit.Head{}), is: audit.NewSealer(s.j.auditKey, audit.Head{}),
		lines: map[Pos][]byte{}, events: map[string]bool{}}
	for _, resource := range resources {
		f.resources = append(f.resources, []byte(`"resource":"`+resource+`"`))
	}
	for f.at < j.sealed.Pos {
		at, was, is := f.at, f.was.Head(), f.is.Head()
		err := s.j.db.Read(ctx, func(tx engine.Tx) error {
			f.at = at
			f.was.Reset(was)
			f.is.Reset(is)
			return f.walk(tx, min(at+walkEntries, j.sealed.Pos))
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

var errNotSealed = fault.Away("The audit log does not match its seal, so nothing can be erased until an operator has checked it (anodyne check).", nil)

// readJournal reads the state of a journal at one moment. Citus reads head and
// seal with two statements, so there it needs a snapshot: otherwise, the seal could
// be of a later moment than the head, and seem to be of a log that was cut off.
func (s System) readJournal(ctx context.Context, org access.OrgNo) (j journalState, err error) {
	read := s.j.db.Read
	if s.j.db.Distributed() {
		read = s.j.db.Snapshot
	}
	err = read(ctx, func(tx engine.Tx) error {
		j, err = oneJournal(tx, org)
		return err
	})
	return j, err
}

func oneJournal(tx engine.Tx, org access.OrgNo) (j journalState, err error) {
	list, err := journals(tx, thisJournal, int64(org))
	if err == nil && len(list) != 1 {
		err = fault.Missing("organization", "")
	}
	if err == nil {
		j = list[0]
	}
	return j, err
}

// walk adds the entries up to a position to both chains.
func (f *Forgetting) walk(tx engine.Tx, upTo Pos) error {
	low := int64(f.at)
	if f.at == 0 {
		low = math.MinInt64
	}
	err := tx.Query(sealedEntries, func(r engine.Row) error {
		if Pos(r.Int(0)) != f.at+1 || !asWritten(r) {
			return errNotSealed
		}
		f.at++
		line := r.Raw(6)
		f.buf = addEntry(f.was, r, line, f.buf)
		if r.Int(7) == 0 && f.concerns(line) {
			if !r.IsNull(3) {
				f.events[string(r.Raw(3))] = true
			}
			if shorter, err := withoutDetails(line); err != nil {
				return err
			} else if shorter != nil {
				line = shorter
				f.lines[f.at] = shorter
			}
		}
		f.buf = addEntry(f.is, r, line, f.buf)
		return nil
	}, int64(f.org), low, int64(upTo))
	if err == nil && f.at < upTo {
		err = errNotSealed
	}
	return err
}

// concerns reports whether an audit line is about one of the resources. It must
// not be called for packed lines: they are those of reads, which have identifiers
// and numbers only, and even compressed text may contain an identifier.
func (f *Forgetting) concerns(line []byte) bool {
	for _, resource := range f.resources {
		if bytes.Contains(line, resource) {
			return true
		}
	}
	return false
}

// withoutDetails returns an audit line without its details, or nil if it has
// none.
func withoutDetails(line []byte) ([]byte, error) {
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(line, &entry); err != nil {
		return nil, err
	}
	if entry["details"] == nil {
		return nil, nil
	}
	entry["details"] = json.RawMessage(`{"erased":true}`)
	return json.Marshal(entry)
}

// Forgotten is what a [Forgetting] did.
type Forgotten struct {
	// Events are the identifiers, as bytes, of the events of the entries about
	// the resources.
	Events map[string]bool
	// Details are alternating names and values for the caller's audit line.
	Details []any
	s       System
	accepts *audit.Acceptance // nil if the seal did not change
}

// Accept stores the acceptance that makes every node continue from the new seal.
// Call it at the end of the transaction, because acceptances of other organisations
// wait for it.
//
// In a Citus cluster, acceptances and seals are on different servers, which do
// not commit at the same moment. A node that found the new seal but no acceptance
// would report that the log was altered, so Accept stores the acceptance first,
// in its own transaction. Nodes apply it only if they find the new seal.
func (g *Forgotten) Accept(ctx context.Context, tx engine.Tx) error {
	if g.accepts == nil {
		return nil
	}
	now := engine.Millis(g.s.j.db.Now())
	if !g.s.j.plans {
		return g.s.insertAcceptance(tx, g.accepts, now)
	}
	planned := *g.accepts
	planned.Planned = true
	return g.s.j.db.Write(ctx, func(tx engine.Tx) error { return g.s.insertAcceptance(tx, &planned, now) })
}

// Apply replaces the lines and the seal. No entries about the resources may be added
// meanwhile. The caller must also call [Forgotten.Accept]. Apply can be called
// again if the transaction is repeated.
func (f *Forgetting) Apply(tx engine.Tx) (*Forgotten, error) {
	g := *f
	g.was, g.is = audit.NewSealer(f.s.j.auditKey, f.was.Head()), audit.NewSealer(f.s.j.auditKey, f.is.Head())
	g.lines, g.events = maps.Clone(f.lines), maps.Clone(f.events)
	return g.apply(tx)
}

func (f *Forgetting) apply(tx engine.Tx) (*Forgotten, error) {
	if err := f.placePending(tx); err != nil {
		return nil, err
	}
	// A node that wants to seal this log now waits for this transaction.
	if _, err := engine.One(tx, `SELECT pos FROM journal_seal WHERE org_no = $1 /*FOR UPDATE*/`, func(engine.Row) {}, int64(f.org)); err != nil {
		return nil, err
	}
	j, err := oneJournal(tx, f.org)
	if err != nil {
		return nil, err
	}
	if j.sealed.Pos < f.at {
		return nil, ErrForgetAgain
	}
	if err := f.walk(tx, j.sealed.Pos); err != nil {
		return nil, err
	}
	if j.hasSeal && f.was.Head() != j.sealed.Head {
		return nil, ErrForgetAgain
	}
	there := f.is.Head() // the new head at the position of the stored seal
	if err := f.walk(tx, j.newest); err != nil {
		return nil, err
	}
	for _, pos := range slices.Sorted(maps.Keys(f.lines)) {
		if _, err := tx.Exec(`UPDATE journal SET audit = $3 WHERE org_no = $1 AND pos = $2`, int64(f.org), int64(pos), f.lines[pos]); err != nil {
			return nil, err
		}
	}
	done := &Forgotten{Events: f.events, Details: []any{"lines", len(f.lines)}, s: f.s}
	if len(f.lines) == 0 || !j.hasSeal && f.alone {
		return done, nil
	}
	if j.hasSeal && there != j.sealed.Head {
		done.Details = append(done.Details, "position", int64(j.sealed.Pos), "head", hex.EncodeToString(there[:]), "was_head", hex.EncodeToString(j.sealed.Head[:]))
	}
	fresh, err := f.reseal(tx, j)
	if err == nil && !f.alone {
		done.accepts = &audit.Acceptance{Reason: "a patient was erased", Logs: []audit.Witnessed{
			{Org: fresh.ID, No: int64(fresh.Org), Name: fresh.Name, Pos: int64(fresh.Pos), Head: fresh.Head}}, Before: &audit.Witnessed{
			Org: fresh.ID, No: int64(fresh.Org), Name: fresh.Name, Pos: int64(j.sealed.Pos), Head: j.sealed.Head}}
	}
	return done, err
}

// reseal seals the log up to its end. It always changes the seal: a node may have
// read lines after the old seal before they changed, and must not be able to
// seal what it read.
func (f *Forgetting) reseal(tx engine.Tx, j journalState) (fresh SealedHead, err error) {
	now, changed := engine.Millis(f.s.j.db.Now()), int64(0)
	fresh = j.sealed
	fresh.Pos, fresh.Head = f.at, f.is.Head()
	if j.hasSeal {
		changed, err = tx.Exec(`UPDATE journal_seal SET pos = $2, head = $3, sealed_at = $4 WHERE org_no = $1 AND pos = $5 AND head = $6`,
			int64(f.org), int64(fresh.Pos), fresh.Head[:], now, int64(j.sealed.Pos), j.sealed.Head[:])
	} else {
		changed, err = tx.Exec(`INSERT INTO journal_seal (org_no, pos, head, sealed_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			int64(f.org), int64(fresh.Pos), fresh.Head[:], now)
	}
	if err == nil && changed != 1 {
		err = ErrForgetAgain
	}
	return fresh, err
}

// placePending assigns positions to all committed entries if one of them is about
// the resources, which is rare, because [System.Forget] did so a moment ago.
// Other nodes then have to wait for the end of the transaction, so if there are only
// entries about other resources, it leaves them to those nodes. It does nothing on SQLite.
func (f *Forgetting) placePending(tx engine.Tx) error {
	if !f.s.j.db.Dialect().Sequenced {
		return nil
	}
	concerned := false
	if err := tx.Query(`SELECT audit FROM journal_pending WHERE org_no = $1 AND packed = 0`, func(r engine.Row) error {
		concerned = concerned || f.concerns(r.Raw(0))
		return nil
	}, int64(f.org)); err != nil || !concerned {
		return err
	}
	for {
		given, err := f.placeSome(tx)
		if err != nil || given == 0 {
			return err
		}
	}
}

// placeSome assigns positions to some of the entries, and returns how many.
func (f *Forgetting) placeSome(tx engine.Tx) (given int64, err error) {
	if f.s.j.db.Distributed() {
		given, _, place, err := placeFew(tx, f.org)
		if err != nil || given == 0 {
			return 0, err
		}
		return given, tx.Many(place...)
	}
	err = tx.Many(
		engine.Stmt{SQL: sequenceLock, Args: []any{[]int64{int64(f.org)}}, Each: func(engine.Row) error { return nil }},
		engine.Stmt{SQL: sequence, Args: []any{int64(f.org), sequenceEntries}, Each: func(r engine.Row) error {
			given += r.Int(1)
			return nil
		}},
	)
	return given, err
}
