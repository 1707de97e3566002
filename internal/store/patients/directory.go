package patients

import (
	"context"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// Directory is what writes about many patients are made from, as far as it
// exists.
type Directory struct {
	Births  map[id.Patient]pain.Date // of all patients that were found
	Owners  map[pain.Identifier]id.Patient
	Aliases *pain.Aliases
}

// Directory looks up patients, and the patients with identifiers, in one round
// trip. Those that do not exist are left out; so are merged ones.
func (o Org) Directory(ctx context.Context, ids []id.Patient, identifiers []pain.Identifier) (Directory, error) {
	d := Directory{Births: make(map[id.Patient]pain.Date, len(ids)), Owners: make(map[pain.Identifier]id.Patient, len(identifiers))}
	var version int64
	stmts := []engine.Stmt{o.selectAliasVersion(&version)}
	for _, patientID := range ids {
		stmts = append(stmts, engine.Stmt{SQL: `SELECT date_of_birth FROM patient WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), patientID.Bytes()}, Each: func(r engine.Row) (err error) {
			d.Births[patientID], err = pain.ParseDate(r.Text(0))
			return err
		}})
	}
	for _, one := range identifiers {
		stmts = append(stmts, engine.Stmt{SQL: selectReferred, Args: []any{int64(o.org), one.System, one.Value}, Each: func(r engine.Row) error {
			owner, err := id.FromBytes[id.PatientKind](r.Raw(0))
			if err != nil {
				return err
			}
			d.Owners[one] = owner
			d.Births[owner], err = pain.ParseDate(r.Text(1))
			return err
		}})
	}
	err := o.db.Read(ctx, func(tx engine.Tx) error { return tx.Many(stmts...) })
	if err == nil {
		d.Aliases, err = o.aliases(ctx, version)
	}
	return d, err
}
