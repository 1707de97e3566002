package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"anodyne/internal/access"
	"anodyne/internal/audit"
)

// journalState is how far an organisation's journal goes and is sealed.
type journalState struct {
	sealed SealedHead
	newest Pos
}

// VerifySeals chains every organisation's journal from its start and holds
// the result against its seal. expect, if given for an organisation, must be
// a head that was logged before; a cut tail cannot have it. The returned
// problems are for an operator.
func (s System) VerifySeals(ctx context.Context, expect map[string]SealedHead, progress func(org string, at, of Pos)) (problems []string, err error) {
	var journals []journalState
	err = s.read(ctx, func(tx Tx) error {
		return tx.Query(`SELECT o.org_no, o.name, coalesce(s.pos, 0), s.head, coalesce(h.pos, 0) FROM org o
			LEFT JOIN journal_seal s ON s.org_no = o.org_no LEFT JOIN journal_head h ON h.org_no = o.org_no ORDER BY o.org_no`, func(r Row) error {
			j := journalState{SealedHead{Org: access.OrgNo(r.Int(0)), Name: r.Text(1), Pos: Pos(r.Int(2))}, Pos(r.Int(4))}
			copy(j.sealed.Head[:], r.Raw(3))
			journals = append(journals, j)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	missing := maps.Clone(expect)
	for _, j := range journals {
		delete(missing, j.sealed.Name)
		found, err := s.verifySeal(ctx, j, expect[j.sealed.Name], progress)
		if err != nil {
			return nil, err
		}
		for _, problem := range found {
			problems = append(problems, fmt.Sprintf("organisation %s: %s", j.sealed.Name, problem))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		problems = append(problems, fmt.Sprintf("organisation %s: there is none of this name", name))
	}
	return problems, nil
}

// verifySeal does that for one organisation. An expected head of position 0
// is none.
func (s System) verifySeal(ctx context.Context, j journalState, want SealedHead, progress func(org string, at, of Pos)) (problems []string, err error) {
	note := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	sealer := audit.NewSealer(s.auditKey, audit.Head{})
	for at := Pos(0); at < j.newest; {
		stop := min(at+2000, j.newest)
		for _, mark := range []Pos{j.sealed.Pos, want.Pos} {
			if mark > at && mark < stop {
				stop = mark
			}
		}
		reached, err := s.chain(ctx, sealer, j.sealed.Org, at, stop)
		if err != nil && !errors.Is(err, errHole) {
			return nil, err
		}
		if reached < stop {
			note("the journal breaks off after entry %d of %d", reached, j.newest)
			break
		}
		at = reached
		if at == j.sealed.Pos && sealer.Head() != j.sealed.Head {
			note("the journal up to entry %d is not what was sealed", at)
		}
		if at == want.Pos && sealer.Head() != want.Head {
			note("the journal up to entry %d does not have the expected head", at)
		}
		if progress != nil {
			progress(j.sealed.Name, at, j.newest)
		}
	}
	if max(j.sealed.Pos, want.Pos) > j.newest {
		note("the journal ends at entry %d, before what was sealed: its tail is cut off", j.newest)
	}
	return problems, nil
}
