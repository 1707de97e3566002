package journal

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// witnessMark is the setting that records that some node has a witness.
const witnessMark = "seal_witnessed"

// adopt creates the witness of a node that has none, from the seals in the
// database. The first one of a database is recorded in the logs, because
// anything sealed before could have been replaced and sealed again.
func (s System) adopt(ctx context.Context) error {
	// A log that cannot be read now is verified from its start when it can.
	list, accepted, err := s.seals(ctx, 0)
	if err != nil && !errors.Is(err, engine.ErrPart) {
		return err
	}
	m := newMemory()
	for _, a := range accepted {
		if a.err == nil {
			m.acceptedAt = a.At
		}
	}
	var lines []engine.Stmt
	var orgs []access.OrgNo
	now := s.j.db.Now()
	for _, j := range list {
		if !j.hasSeal {
			continue
		}
		seen := audit.Witnessed{Org: j.sealed.ID, No: int64(j.sealed.Org), Name: j.sealed.Name, Pos: int64(j.sealed.Pos), Head: j.sealed.Head}
		if seen.Pos < 1 {
			seen.Pos, seen.Head, seen.Broken = 0, audit.Head{}, disagreement(audit.Witnessed{}, j)
		}
		m.add(seen).present = true
		orgs = append(orgs, j.sealed.Org)
		lines = append(lines, s.j.Entry(j.sealed.Org, Change{Audit: audit.Entry{
			At: now, Actor: audit.Service, Action: audit.SealAdopt, Resource: j.sealed.ID.String(), Details: sealDetails(j.sealed),
		}})...)
	}
	var first int64
	err = s.j.ChangeIn(ctx, orgs, func(tx engine.Tx) (err error) {
		first, err = tx.Exec(`INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, witnessMark, []byte{1})
		if err == nil && first > 0 {
			tx.Last(lines...)
		} else if err == nil {
			err = confirm(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	w := s.j.witness
	w.memory, w.opened, w.lost, w.dirty = m, true, "", true
	if len(m.logs) > 0 && first > 0 {
		s.j.db.Log.Info("seals of an earlier version were copied to the data directory", "organizations", len(m.logs), "file", w.path())
	} else if first == 0 {
		s.j.db.Log.Warn("this data directory has no record of sealed heads, so it starts from the seals in the database; this is expected only on a new node",
			"organizations", len(m.logs), "file", w.path())
	}
	return s.keepWitness(true)
}

func sealDetails(head SealedHead, more ...any) []byte {
	return Details(append([]any{"position", int64(head.Pos), "head", hex.EncodeToString(head.Head[:])}, more...)...)
}

// acceptance is a stored acceptance; err is set if it is not authentic.
type acceptance struct {
	audit.Acceptance
	err error
}

// acceptances reads the acceptances after a time, oldest first.
func (s System) acceptances(tx engine.Tx, after int64) (list []acceptance, err error) {
	err = tx.Query(`SELECT accepted_at, document FROM seal_acceptance WHERE accepted_at > $1 ORDER BY accepted_at`, func(r engine.Row) error {
		a, err := audit.OpenAcceptance(s.j.auditKey, r.Raw(1))
		if err == nil && a.At != r.Int(0) {
			err = audit.ErrForged
		}
		if a.At = r.Int(0); err != nil {
			err = fmt.Errorf("the acceptance of %s is not authentic: %w", engine.FromMillis(a.At).Format("2006-01-02T15:04:05Z"), err)
		}
		list = append(list, acceptance{a, err})
		return nil
	}, after)
	return list, err
}

// applyAcceptance applies an acceptance to the witness, once, and reports whether
// that changed it.
func (s System) applyAcceptance(a acceptance) bool {
	w := s.j.witness
	if a.err != nil {
		if !w.forged[a.At] {
			w.forged[a.At] = true
			s.j.db.Log.Error("ignoring an acceptance of audit logs that is not valid", "error", a.err)
		}
		return false
	}
	w.dirty = true
	if a.Planned {
		w.acceptedAt = a.At
		return false // see applyPlanned
	}
	if !w.apply(a.Acceptance) {
		s.j.db.Log.Error("a patient was erased from an audit log that had been altered; the log is not accepted", "organization", a.Logs[0].Name, "accepted_at", engine.FromMillis(a.At))
		return false
	}
	w.changed(a.Whole, a.Logs...)
	s.j.db.Log.Warn("audit logs were accepted as they are in the database", "reason", a.Reason, "organizations", len(a.Logs), "accepted_at", engine.FromMillis(a.At))
	return true
}

// changed notes that an acceptance has replaced the records of these logs, or all.
func (w *witness) changed(whole bool, accepted ...audit.Witnessed) {
	w.patrol.skip(whole, accepted...)
	w.dirty = true
	w.applied++
}

// applyNew applies the acceptances that were stored since the last comparison,
// and reports whether that changed the witness.
func (s System) applyNew(ctx context.Context) (applied bool) {
	var list []acceptance
	if err := s.j.db.Read(ctx, func(tx engine.Tx) (err error) {
		list, err = s.acceptances(tx, s.j.witness.acceptedAt)
		return err
	}); err != nil {
		return false
	}
	for _, a := range list {
		applied = s.applyAcceptance(a) || applied
	}
	return applied
}

// applyPlanned applies the acceptance of an erasure that was planned, if the log
// has the seal of that erasure, or one that continues it. It reports whether the
// log is to be judged again.
func (s System) applyPlanned(ctx context.Context, l *seenLog) bool {
	org := access.OrgNo(l.No)
	j, err := s.readJournal(ctx, org)
	if err != nil {
		return fault.Is(err, fault.Unavailable)
	}
	list, err := engine.Get(ctx, s.j.db, func(tx engine.Tx) ([]acceptance, error) { return s.acceptances(tx, 0) })
	if err != nil {
		return fault.Is(err, fault.Unavailable)
	}
	accepted, err := s.planned(ctx, list, l.Witnessed, j)
	if err != nil {
		return true
	}
	if accepted == nil {
		now, err := s.readJournal(ctx, org)
		return err == nil && now.sealed != j.sealed // what was read may have been of two moments
	}
	w := s.j.witness
	name := l.Name
	*l = seenLog{Witnessed: *accepted, present: l.present}
	l.Name = name
	w.changed(false, *accepted)
	s.j.db.Log.Warn("an audit log was accepted after an erasure", "organization", l.Name, "pos", l.Pos)
	return true
}

// planned returns the record of a log by the newest planned acceptance with which
// its seal agrees, or nil if there is none that differs from seen.
func (s System) planned(ctx context.Context, list []acceptance, seen audit.Witnessed, j journalState) (*audit.Witnessed, error) {
	for _, a := range slices.Backward(list) {
		if a.err != nil || !a.Planned || len(a.Logs) != 1 {
			continue
		}
		log := a.Logs[0]
		if log.Org != seen.Org || !a.Continues(seen) || log.Pos < seen.Pos || log.Pos == seen.Pos && log.Head == seen.Head || Pos(log.Pos) > j.sealed.Pos {
			continue // an erasure seals a log up to its end, so an earlier one is of an older copy
		}
		sealer := audit.NewSealer(s.j.auditKey, log.Head)
		reached, err := s.chain(ctx, sealer, j.sealed.Org, Pos(log.Pos), j.sealed.Pos)
		if err != nil && !errors.Is(err, errHole) {
			return nil, err
		}
		if reached == j.sealed.Pos && sealer.Head() == j.sealed.Head {
			return &log, nil
		}
	}
	return nil, nil
}

// Accepting describes what an operator accepts.
type Accepting struct {
	// Organizations names those whose logs are accepted. If empty, the whole
	// database is.
	Organizations []string
	Reason        string
	// Reseal seals a log that does not match its own seal again from its start.
	Reseal bool
	// Action is the action of the audit lines.
	Action audit.Action
	// OnlyLines appends the lines but stores no acceptance for the nodes.
	OnlyLines bool
}

// AcceptSeals records that an operator accepts logs as they are, although they
// contradict the witnesses of nodes: every node applies the acceptance and
// continues from there. It appends a line to each of the logs. It rejects a log
// that does not match its own seal, unless it is to be resealed.
func (s System) AcceptSeals(ctx context.Context, a Accepting) (accepted []SealedHead, err error) {
	seen, _, readErr := s.j.witness.read()
	unusable := readErr != nil && !errors.Is(readErr, errNoWitness)
	if unusable && len(a.Organizations) > 0 {
		return nil, fmt.Errorf("the record of sealed heads cannot be used, so all organisations have to be accepted together: %w", readErr)
	}
	var list []journalState
	if err := s.j.db.Read(ctx, func(tx engine.Tx) (err error) { list, err = journals(tx, everyJournal); return err }); err != nil {
		return nil, err
	}
	all := list
	list, gone, err := chosen(list, seen, a.Organizations)
	if err != nil {
		return nil, err
	}
	document := audit.Acceptance{Reason: a.Reason, Whole: len(a.Organizations) == 0, Logs: gone}
	var lines, seals []engine.Stmt
	var orgs []access.OrgNo
	now := s.j.db.Now()
	for _, j := range list {
		was := seen.logs[j.sealed.ID]
		// A log without a seal is new, or has lost its seal.
		fresh := a.OnlyLines || a.Action == audit.DatabaseRestore || readErr == nil && was == nil
		head, resealed, err := s.acceptable(ctx, j, fresh, a.Reseal)
		if err != nil {
			return nil, fmt.Errorf("organisation %s: %w", j.sealed.Name, err)
		}
		if resealed {
			seals = append(seals, engine.Stmt{SQL: `INSERT INTO journal_seal (org_no, pos, head, sealed_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (org_no) DO UPDATE SET pos = excluded.pos, head = excluded.head, sealed_at = excluded.sealed_at`,
				Args: []any{int64(head.Org), int64(head.Pos), head.Head[:], engine.Millis(now)}})
		}
		more := []any{"reason", a.Reason, "resealed", resealed}
		if was != nil {
			more = append(more, "was_position", was.Pos, "was_head", hex.EncodeToString(was.Head[:]))
		}
		lines = append(lines, s.j.Entry(head.Org, Change{Audit: audit.Entry{
			At: now, Actor: audit.Operator, Action: a.Action, Resource: head.ID.String(), Details: sealDetails(head, more...),
		}})...)
		document.Logs = append(document.Logs, audit.Witnessed{Org: head.ID, No: int64(head.Org), Name: head.Name, Pos: int64(head.Pos), Head: head.Head})
		orgs, accepted = append(orgs, head.Org), append(accepted, head)
	}
	// That a log is missing is recorded in another one, if there is any.
	if lost := lostLogs(all, gone, seen, document.Whole); len(all) > 0 && !a.OnlyLines {
		first := all[0].sealed.Org
		for _, l := range lost {
			was := seen.logs[l.Org].Witnessed
			lines = append(lines, s.j.Entry(first, Change{Audit: audit.Entry{
				At: now, Actor: audit.Operator, Action: a.Action, Resource: l.Org.String(),
				Details: Details("organization", l.Name, "gone", true, "reason", a.Reason, "was_position", was.Pos, "was_head", hex.EncodeToString(was.Head[:])),
			}})...)
			orgs = append(orgs, first)
			accepted = append(accepted, SealedHead{ID: l.Org, Name: l.Name})
		}
	}
	err = s.j.ChangeIn(ctx, orgs, func(tx engine.Tx) error {
		if !a.OnlyLines {
			if err := s.insertAcceptance(tx, &document, max(engine.Millis(now), seen.acceptedAt+1)); err != nil {
				return err
			}
		}
		if err := tx.Many(seals...); err != nil {
			return err
		}
		tx.Last(lines...)
		return nil
	})
	if err != nil || a.OnlyLines || !unusable {
		return accepted, err
	}
	seen = newMemory()
	seen.apply(document)
	return accepted, s.j.witness.replace(seen.document().Sign(s.j.auditKey))
}

// acceptanceLock is the key of the advisory lock for storing acceptances.
const acceptanceLock = 0x616e6f6461636370

// insertAcceptance stores an acceptance with a time after all others. Rows that
// are not authentic are ignored. Nodes read the acceptances after the last one
// they know, so they must become visible in the order of their times: other inserts
// wait until the transaction ends.
func (s System) insertAcceptance(tx engine.Tx, document *audit.Acceptance, at int64) error {
	if lock := s.j.db.Dialect().LockKey; lock != "" {
		if err := tx.Query(lock, nil, int64(acceptanceLock)); err != nil {
			return err
		}
	}
	before, err := s.acceptances(tx, 0)
	if err != nil {
		return err
	}
	for _, a := range before {
		if a.err == nil {
			at = max(at, a.At+1)
		}
	}
	document.At = at
	_, err = tx.Exec(`INSERT INTO seal_acceptance (accepted_at, document) VALUES ($1, $2)
		ON CONFLICT (accepted_at) DO UPDATE SET document = excluded.document`, document.At, document.Sign(s.j.auditKey))
	return err
}

// lostLogs lists the logs accepted as missing: those named, or all that only
// the witness still knows.
func lostLogs(all []journalState, named []audit.Witnessed, seen memory, whole bool) (lost []audit.Witnessed) {
	if !whole {
		return named
	}
	there := map[id.Org]bool{}
	for _, j := range all {
		there[j.sealed.ID] = true
	}
	for org, l := range seen.logs {
		if !there[org] && l.Pos > 0 {
			lost = append(lost, l.Witnessed)
		}
	}
	slices.SortFunc(lost, func(a, b audit.Witnessed) int { return cmp.Compare(a.No, b.No) })
	return lost
}

// chosen finds the journals of organisations by name, including those that only
// the witness still knows.
func chosen(list []journalState, seen memory, names []string) (found []journalState, gone []audit.Witnessed, err error) {
	if len(names) == 0 {
		return list, nil, nil
	}
	for _, name := range names {
		if i := slices.IndexFunc(list, func(j journalState) bool { return j.sealed.Name == name }); i >= 0 {
			found = append(found, list[i])
			continue
		}
		known := len(gone)
		for _, l := range seen.logs {
			if l.Name == name {
				gone = append(gone, audit.Witnessed{Org: l.Org, No: l.No, Name: name})
			}
		}
		if len(gone) == known {
			return nil, nil, fmt.Errorf("there is no organisation %q", name)
		}
	}
	return found, gone, nil
}

// acceptable returns the head with which a log is accepted. A fresh log needs
// no seal yet.
func (s System) acceptable(ctx context.Context, j journalState, fresh, reseal bool) (head SealedHead, resealed bool, err error) {
	problems, err := s.verifySeal(ctx, j, audit.Witnessed{}, SealedHead{}, nil)
	if !fresh && !j.hasSeal && j.newest > 0 {
		problems = append(problems, "it has no seal")
	}
	if err != nil || len(problems) == 0 {
		return j.sealed, false, err
	}
	if !reseal {
		return head, false, fmt.Errorf("%s; restore a backup, or reseal it from the start with --reseal", strings.Join(problems, "; "))
	}
	sealer := audit.NewSealer(s.j.auditKey, audit.Head{})
	reached, err := s.chain(ctx, sealer, j.sealed.Org, 0, j.newest)
	if errors.Is(err, errHole) || err == nil && reached < j.newest {
		return head, false, fmt.Errorf("%s: entries are missing, so it cannot be sealed; restore a backup", brokenOff(reached, j.newest))
	}
	head = j.sealed
	head.Pos, head.Head = reached, sealer.Head()
	return head, true, err
}
