package patients

import (
	"context"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/audit"
)

// CheckDerived derives every medication again and describes the differences
// from what is stored. If repair is set, it repairs them, one patient at a
// time, and returns the number of patients repaired. It may run while a server
// is running.
func (s System) CheckDerived(ctx context.Context, repair bool, progress func(org string, at, of int64)) (problems []string, repaired int, err error) {
	err = s.eachPatients(ctx, progress, func(o Org, name string, first, last int64) error {
		for {
			wrong, did, err := o.checkDerived(ctx, first, last, repair)
			repaired += did
			if errors.Is(err, errAliasesChanged) {
				continue // those corrected in the meantime do not show up again
			}
			for _, w := range wrong {
				problems = append(problems, fmt.Sprintf("organisation %s: patient number %d: %s", name, w.no, w.problem))
			}
			return err
		}
	})
	return problems, repaired, err
}

// checkDerived is CheckDerived for a range of patients. It returns those not
// repaired, and the number of those repaired.
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
