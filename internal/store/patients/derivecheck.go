package patients

import (
	"context"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/audit"
)

// CheckDerived derives every medication again and says in words where what is
// stored differs. With repair it puts that right, one patient at a time, and
// gives their number. It works while a server runs.
func (s System) CheckDerived(ctx context.Context, repair bool, progress func(org string, at, of int64)) (problems []string, repaired int, err error) {
	err = s.eachPatients(ctx, progress, func(o Org, name string, first, last int64) error {
		for {
			wrong, did, err := o.checkDerived(ctx, first, last, repair)
			repaired += did
			if errors.Is(err, errAliasesChanged) {
				continue // those that are right by now are not found again
			}
			for _, w := range wrong {
				problems = append(problems, fmt.Sprintf("organisation %s: patient number %d: %s", name, w.no, w.problem))
			}
			return err
		}
	})
	return problems, repaired, err
}

// checkDerived is CheckDerived of some patients: it gives those that it did not
// repair, and the number of the others.
func (o Org) checkDerived(ctx context.Context, first, last int64, repair bool) (wrong []differing, repaired int, err error) {
	aliases, err := o.Aliases(ctx)
	if err != nil {
		return nil, 0, err
	}
	if wrong, err = o.differentlyDerived(ctx, first, last, aliases); err != nil || !repair {
		return wrong, 0, err
	}
	var left []differing
	for _, w := range wrong {
		switch _, err := o.rederivePatient(ctx, w.no, aliases, audit.Operator); {
		case AliasesChanged(err) || ctx.Err() != nil:
			return nil, repaired, err
		case err != nil:
			left = append(left, differing{w.no, fmt.Sprintf("%s; it cannot be recalculated: %v", w.problem, err)})
		default:
			repaired++
		}
	}
	return left, repaired, nil
}
