package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// journalState is the length of an organisation's journal and how far it is
// sealed.
type journalState struct {
	sealed SealedHead
	// hasSeal distinguishes a seal at position 0, which the program never
	// writes, from none.
	hasSeal bool
	newest  Pos
}

// journals reads the state of journals. The statement selects from org o,
// journal_seal s and journal_head h.
func journals(tx engine.Tx, from string, args ...any) (list []journalState, err error) {
	err = tx.Query(`SELECT o.org_no, o.id, o.name, coalesce(h.pos, 0), s.pos, s.head `+from, func(r engine.Row) error {
		list = append(list, scanJournal(r))
		return nil
	}, args...)
	return list, err
}

// The conditions on s and h look redundant, but without them, Citus would read
// the rows of all organisations.
const (
	everyJournal = `FROM org o LEFT JOIN journal_seal s ON s.org_no = o.org_no /*AND s.org_no = ANY($1)*/
		LEFT JOIN journal_head h ON h.org_no = o.org_no /*AND h.org_no = ANY($1)*/ /*WHERE o.org_no = ANY($1)*/ ORDER BY o.org_no`
	thisJournal = `FROM org o LEFT JOIN journal_seal s ON s.org_no = o.org_no AND s.org_no = $1
		LEFT JOIN journal_head h ON h.org_no = o.org_no AND h.org_no = $1 WHERE o.org_no = $1`
)

// scanJournal reads a row with the number, identifier and name of an
// organisation, the head of its journal, and the position and head of its seal.
func scanJournal(r engine.Row) journalState {
	// An invalid identifier stays zero, which matches nothing.
	org, _ := id.FromBytes[id.OrgKind](r.Raw(1))
	j := journalState{sealed: SealedHead{Org: access.OrgNo(r.Int(0)), ID: org, Name: r.Text(2)}, newest: Pos(r.Int(3)), hasSeal: !r.IsNull(4)}
	if j.hasSeal {
		j.sealed.Pos = Pos(r.Int(4))
	}
	if head := r.Raw(5); len(head) == len(j.sealed.Head) {
		j.sealed.Head = audit.Head(head)
	}
	return j
}

// seals reads the state of all journals, and the acceptances after a time. If a
// part of the database is unavailable, it returns the journals that it could read
// with an error that wraps [engine.ErrPart].
func (s System) seals(ctx context.Context, after int64) (list []journalState, accepted []acceptance, err error) {
	err = s.j.db.EachPart(ctx, func(ctx context.Context, p engine.Part) error {
		var some []journalState
		err := s.j.db.Snapshot(ctx, func(tx engine.Tx) (err error) {
			if accepted, err = s.acceptances(tx, after); err == nil {
				some, err = journals(tx, p.SQL(everyJournal), p.Args()...)
			}
			return err
		})
		if err == nil {
			list = append(list, some...)
		}
		return err
	})
	return list, accepted, err
}

// disagreement describes how a journal's state contradicts the witness. It
// returns "" if it does not.
func disagreement(seen audit.Witnessed, j journalState) string {
	was, is := Pos(seen.Pos), j.sealed.Pos
	switch {
	case j.newest < was:
		return fmt.Sprintf("the journal ends at entry %d, but was sealed up to entry %d: its tail is cut off, or an older copy of the database was put back", j.newest, was)
	case !j.hasSeal && was > 0:
		return fmt.Sprintf("its seal at entry %d is missing", was)
	case j.hasSeal && is < 1:
		return fmt.Sprintf("its seal was changed: it is at entry %d", is)
	case is < was:
		return fmt.Sprintf("its seal is at entry %d, but was at entry %d", is, was)
	case is == was && j.sealed.Head != seen.Head:
		return fmt.Sprintf("its seal at entry %d was changed", is)
	case is > j.newest:
		return fmt.Sprintf("the journal ends at entry %d, before its seal at entry %d: its tail is cut off", j.newest, is)
	}
	return ""
}

// log returns the record of a journal, empty for a new one. A new journal with
// the number of another could be that one under a different identifier.
func (w *witness) log(j journalState) *seenLog {
	l := w.logs[j.sealed.ID]
	if l == nil {
		seen := audit.Witnessed{Org: j.sealed.ID, No: int64(j.sealed.Org)}
		if other := w.logs[w.numbers[seen.No]]; other != nil {
			seen.Broken = fmt.Sprintf("its number was that of organisation %s, %s", other.Name, other.Org)
		}
		l = w.add(seen)
	}
	l.Name, l.present = j.sealed.Name, true
	return l
}

// remember records a committed seal that continues the recorded one.
func (w *witness) remember(l *seenLog, head SealedHead) {
	l.Pos, l.Head, l.ahead = int64(head.Pos), head.Head, SealedHead{}
	w.dirty = true
}

// judge compares a journal with its record. sound reports whether it may be
// sealed further; after it was found broken, that takes a complete walk without
// problems.
func (s System) judge(ctx context.Context, l *seenLog, j journalState) (sound bool, err error) {
	if disagreement(l.Witnessed, j) != "" {
		// In a Citus cluster, the parts of a list may be of different moments.
		again, err := s.readJournal(ctx, j.sealed.Org)
		if err != nil {
			return false, err
		}
		if problem := disagreement(l.Witnessed, again); problem != "" {
			s.breakSeal(ctx, l, problem)
		}
		return false, nil
	}
	if l.Broken != "" {
		return false, nil
	}
	return s.catchUp(ctx, l, j.sealed)
}

// catchUpEntries bounds the entries that one round verifies of a journal sealed
// by other nodes while this one was stopped.
var catchUpEntries = Pos(20_000)

// catchUp verifies that a seal continues the recorded one. It does not record
// it yet: what is readable may not have reached a standby.
func (s System) catchUp(ctx context.Context, l *seenLog, sealed SealedHead) (sound bool, err error) {
	from := SealedHead{Pos: Pos(l.Pos), Head: l.Head}
	if sealed.Pos == from.Pos {
		return true, nil
	}
	if l.ahead.Pos > from.Pos && l.ahead.Pos <= sealed.Pos {
		from = l.ahead
	}
	sealer := audit.NewSealer(s.j.auditKey, from.Head)
	to := min(sealed.Pos, from.Pos+catchUpEntries)
	reached, err := s.chain(ctx, sealer, sealed.Org, from.Pos, to)
	if err != nil && !errors.Is(err, errHole) {
		return false, err
	}
	if to < sealed.Pos && reached == to {
		l.ahead = SealedHead{Pos: to, Head: sealer.Head()}
		return false, nil
	}
	if reached < to || sealer.Head() != sealed.Head {
		switch {
		case from.Pos > Pos(l.Pos) && !l.again:
			// A failover may have undone what had not reached the standby, so
			// verify again from the recorded seal.
			l.ahead, l.again = SealedHead{}, true
		case reached < to:
			s.breakSeal(ctx, l, brokenOff(reached, sealed.Pos))
		default:
			s.breakSeal(ctx, l, notSealed(to))
		}
		return false, nil
	}
	l.ahead, l.again = sealed, false
	return true, nil
}

func brokenOff(reached, of Pos) string {
	return fmt.Sprintf("the journal breaks off after entry %d of %d", reached, of)
}

func notSealed(upTo Pos) string {
	return fmt.Sprintf("the journal up to entry %d is not what was sealed", upTo)
}

// breakSeal records that a log must not be sealed further. It does nothing if
// there are acceptances that this node has not applied yet: it applies them, and
// the log is judged again in the next round. So an erasure, which is accepted in
// its own transaction or before it, is no alarm on any node.
func (s System) breakSeal(ctx context.Context, l *seenLog, problem string) {
	if l.Broken != "" || s.applyNew(ctx) || s.applyPlanned(ctx, l) {
		return
	}
	l.Broken, l.told, s.j.witness.dirty = problem, time.Time{}, true
}

// openWitness reads the witness, or creates one. If there should be one but it
// cannot be used, it logs why and returns false; nothing is sealed then.
func (s System) openWitness(ctx context.Context) (ok bool, err error) {
	w := s.j.witness
	if w.opened {
		return true, nil
	}
	m, content, err := w.read()
	if errors.Is(err, errNoWitness) {
		return true, s.adopt(ctx)
	}
	if err != nil {
		if w.lost == "" {
			s.j.db.Log.Error("the record of sealed heads cannot be used; sealing is stopped", "error", err)
		}
		w.lost = err.Error()
		return false, nil
	}
	w.tidy()
	w.memory, w.disk, w.opened, w.lost = m, content, true, ""
	return true, nil
}

// compareSeals compares every journal's seal with the witness, after applying
// the acceptances of operators.
func (s System) compareSeals(ctx context.Context) error {
	s.j.witness.mu.Lock()
	defer s.j.witness.mu.Unlock()
	_, err := s.compare(ctx, s.seals)
	return err
}

// soundJournal is compareSeals for one organisation, and returns the state of its
// journal. It returns an error if that contradicts the witness, or [ErrForgetAgain] if
// the log was accepted meanwhile. It does not need the journals of others, which
// may be unavailable.
//
// The state is judged before anybody can seal, because then the witness is ahead
// of it.
func (s System) soundJournal(ctx context.Context, org access.OrgNo) (j journalState, err error) {
	w := s.j.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	again, err := s.compare(ctx, func(ctx context.Context, after int64) (_ []journalState, accepted []acceptance, err error) {
		if err = s.j.db.Snapshot(ctx, func(tx engine.Tx) (err error) {
			if accepted, err = s.acceptances(tx, after); err == nil {
				j, err = oneJournal(tx, org)
			}
			return err
		}); err == nil {
			err = errOthers
		}
		return []journalState{j}, accepted, err
	})
	if err == nil && again {
		err = ErrForgetAgain
	}
	if err != nil {
		return j, err
	}
	if l := w.logs[j.sealed.ID]; !w.opened || l == nil || l.Broken != "" || disagreement(l.Witnessed, j) != "" {
		return j, errNotSealed
	}
	return j, nil
}

// errOthers is returned together with the state of one journal.
var errOthers = errors.New("the other journals were not read")

// compare compares the journals that read returns. If read returns an error that
// says that it did not read all of them, compare does not look for journals that
// are gone. again reports whether logs were accepted while it compared them. It must be
// called with the lock of the witness held.
func (s System) compare(ctx context.Context, read func(ctx context.Context, after int64) ([]journalState, []acceptance, error)) (again bool, err error) {
	w := s.j.witness
	ok, err := s.openWitness(ctx)
	if err != nil {
		return false, err
	}
	list, accepted, err := read(ctx, w.acceptedAt)
	all := err == nil
	switch {
	case errors.Is(err, errOthers):
		err = nil
	case errors.Is(err, engine.ErrPart):
		s.missed(ctx, err)
	case err != nil:
		return false, err
	}
	if !ok {
		s.j.counts.sealBroken.Set(float64(max(1, len(list))))
		return false, nil
	}
	for _, a := range accepted {
		s.applyAcceptance(a)
	}
	applied := w.applied
	for _, l := range w.logs {
		l.present = l.present && !all
	}
	moved := map[*seenLog]SealedHead{}
	for _, j := range list {
		l := w.log(j)
		if ok, judgeErr := s.judge(ctx, l, j); judgeErr != nil {
			err = errors.Join(err, judgeErr)
		} else if ok && j.sealed.Pos > Pos(l.Pos) {
			moved[l] = j.sealed
		}
	}
	if len(moved) > 0 {
		if confirmErr := s.j.db.Write(ctx, confirm); confirmErr != nil {
			err = errors.Join(err, confirmErr)
			clear(moved)
		}
	}
	if w.applied != applied {
		return true, errors.Join(err, s.keepWitness(false))
	}
	for l, sealed := range moved {
		w.remember(l, sealed)
	}
	for org, l := range w.logs {
		switch {
		case l.present || !all:
		case l.Pos == 0:
			w.remove(org)
		default:
			s.breakSeal(ctx, l, fmt.Sprintf("it is gone; its log was sealed up to entry %d", l.Pos))
		}
	}
	return false, errors.Join(err, s.keepWitness(false))
}

// missed records the organisations that are missing because a part of the
// database is unavailable.
func (s System) missed(ctx context.Context, err error) {
	for _, org := range engine.Missing(err) {
		if s.j.sealing.Ready(org) {
			_ = s.j.sealing.Done(ctx, org, err)
		}
	}
}

// confirm is a write whose commit is acknowledged only when everything readable
// before it is durable, on a synchronous standby too.
func confirm(tx engine.Tx) error {
	return tx.Query(`SELECT value FROM setting WHERE name = $1 /*FOR UPDATE*/`, func(engine.Row) error { return nil }, witnessMark)
}

// keepWitness reports broken logs and writes the witness to disk.
func (s System) keepWitness(atOnce bool) error {
	w := s.j.witness
	if !w.opened {
		return nil
	}
	broken, said, now := w.broken(), 0, s.j.db.Now()
	s.j.counts.sealBroken.Set(float64(len(broken)))
	for _, l := range broken {
		if said < 20 && (l.told.IsZero() || now.Sub(l.told).Abs() >= time.Hour) {
			said, l.told = said+1, now
			s.j.db.Log.Error("the audit log does not match its seal; sealing is stopped", "organization", l.Name, "problem", l.Broken)
		}
	}
	changed, err := w.keep(atOnce)
	if changed != "" {
		s.j.counts.witnessLost.Inc()
		s.j.db.Log.Error("the record of sealed heads was removed or changed while the server was running; it was rewritten from memory", "problem", changed)
	}
	return err
}
