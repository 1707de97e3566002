package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store/engine"
)

// Witnessed reports whether this data directory has a record of sealed heads,
// valid or not.
func (s System) Witnessed() bool {
	_, _, err := s.j.witness.read()
	return !errors.Is(err, errNoWitness)
}

// VerifySeals recomputes every organisation's chain from its start and compares
// the result with its seal and with the record in the data directory. If expect
// has a head for an organisation, the chain must contain it. The returned
// problems are messages for an operator.
func (s System) VerifySeals(ctx context.Context, expect map[string]SealedHead, progress func(org string, at, of Pos)) (problems []string, err error) {
	// Read the witness first, so that a server that seals at the same time is
	// ahead of it.
	seen, _, err := s.j.witness.read()
	if err != nil && !errors.Is(err, errNoWitness) {
		problems = append(problems, "the record of sealed heads cannot be used: "+err.Error())
	}
	list, accepted, err := s.seals(ctx, seen.acceptedAt)
	if err != nil {
		return nil, err
	}
	for _, a := range accepted {
		if a.err != nil {
			problems = append(problems, a.err.Error())
		} else if !a.Planned {
			seen.apply(a.Acceptance)
		}
	}
	missing := maps.Clone(expect)
	for _, j := range list {
		delete(missing, j.sealed.Name)
		var was audit.Witnessed
		if l := seen.logs[j.sealed.ID]; l != nil {
			was = l.Witnessed
		}
		delete(seen.logs, j.sealed.ID)
		if was, err = s.afterErasure(ctx, was, j); err != nil {
			return nil, err
		}
		found, err := s.verifySeal(ctx, j, was, expect[j.sealed.Name], progress)
		if err != nil {
			return nil, err
		}
		for _, problem := range found {
			problems = append(problems, fmt.Sprintf("organisation %s: %s", j.sealed.Name, problem))
		}
	}
	var gone []string
	for _, l := range seen.logs {
		if l.Pos > 0 {
			gone = append(gone, fmt.Sprintf("organisation %s: it is gone; its log was sealed up to entry %d", l.Name, l.Pos))
		}
	}
	slices.Sort(gone)
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		gone = append(gone, fmt.Sprintf("organisation %s: it does not exist", name))
	}
	return append(problems, gone...), nil
}

// afterErasure returns the record of a log, or if there was an erasure since, the
// one after that.
func (s System) afterErasure(ctx context.Context, was audit.Witnessed, j journalState) (audit.Witnessed, error) {
	if !s.j.plans || was.Pos == 0 || was.Broken != "" {
		return was, nil
	}
	all, err := engine.Get(ctx, s.j.db, func(tx engine.Tx) ([]acceptance, error) { return s.acceptances(tx, 0) })
	if err != nil {
		return was, err
	}
	accepted, err := s.planned(ctx, all, was, j)
	if accepted != nil {
		was = *accepted
	}
	return was, err
}

// verifySeal does that for one organisation. A head with position 0 means none.
func (s System) verifySeal(ctx context.Context, j journalState, seen audit.Witnessed, want SealedHead, progress func(org string, at, of Pos)) (problems []string, err error) {
	note := func(problem string) {
		if !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	if problem := disagreement(seen, j); problem != "" {
		note(problem)
	} else if want.Pos > j.newest {
		note(fmt.Sprintf("the journal ends at entry %d, but was sealed up to entry %d: its tail is cut off", j.newest, want.Pos))
	}
	if stray, err := s.hasStray(ctx, j.sealed.Org); err != nil {
		return nil, err
	} else if stray {
		note(strayEntries)
	}
	marks := []SealedHead{j.sealed, {Pos: Pos(seen.Pos), Head: seen.Head}, want}
	sealer := audit.NewSealer(s.j.auditKey, audit.Head{})
	for at := Pos(0); at < j.newest; {
		stop := min(at+walkEntries, j.newest)
		for _, mark := range marks {
			if mark.Pos > at && mark.Pos < stop {
				stop = mark.Pos
			}
		}
		reached, err := s.chain(ctx, sealer, j.sealed.Org, at, stop)
		if err != nil && !errors.Is(err, errHole) {
			return nil, err
		}
		if reached < stop {
			note(brokenOff(reached, j.newest))
			break
		}
		at = reached
		for i, mark := range marks {
			if at == mark.Pos && sealer.Head() != mark.Head {
				if i == 2 {
					note(fmt.Sprintf("the journal up to entry %d does not have the expected head", at))
				} else {
					note(notSealed(at))
				}
			}
		}
		if progress != nil {
			progress(j.sealed.Name, at, j.newest)
		}
	}
	return problems, nil
}

const strayEntries = "there are entries before the first or after the newest"

// hasStray reports whether there are entries with invalid positions.
func (s System) hasStray(ctx context.Context, org access.OrgNo) (found bool, err error) {
	err = s.j.db.Read(ctx, func(tx engine.Tx) (err error) {
		found, err = engine.One(tx, `SELECT 1 WHERE EXISTS (SELECT 1 FROM journal WHERE org_no = $1 AND pos < 1)
			OR EXISTS (SELECT 1 FROM journal WHERE org_no = $1 AND pos > (SELECT pos FROM journal_head WHERE org_no = $1))`, func(engine.Row) {}, int64(org))
		return err
	})
	return found, err
}
