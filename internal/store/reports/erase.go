package reports

import (
	"slices"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
)

// About returns the reports that may contain data of patients: those about one
// of them, and those that list patients and were created at since or later. On
// PostgreSQL it locks them.
func (o Org) About(tx engine.Tx, patients []id.Patient, since time.Time) (list []Report, err error) {
	for _, declared := range reporttype.All() {
		if !declared.AboutPatient && !declared.ListsPatients {
			continue
		}
		if err := tx.Query(`SELECT `+reportColumns+` FROM report WHERE org_no = $1 AND report_type = $2 /*FOR UPDATE*/`, func(r engine.Row) error {
			rep, err := scanReport(r)
			if slices.Contains(patients, rep.Patient) || declared.ListsPatients && !rep.CreatedAt.Before(since.Truncate(time.Second)) {
				list = append(list, rep)
			}
			return err
		}, int64(o.org), declared.Type.Code()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// EraseReports deletes reports and their files at once.
func (o Org) EraseReports(tx engine.Tx, list []Report) error {
	for i := range list {
		rep := &list[i]
		if _, err := tx.Exec(`DELETE FROM report_chunk WHERE org_no = $1 AND report_no = $2`, int64(o.org), rep.no); err != nil {
			return err
		}
		tx.Last(o.discard(rep.no, rep.fence)) // a node may be writing another chunk
		tx.Last(o.countReports(rep.Type, rep.Status, "")...)
		tx.Last(engine.Stmt{SQL: `DELETE FROM report WHERE org_no = $1 AND report_no = $2`, Args: []any{int64(o.org), rep.no}})
	}
	return nil
}
