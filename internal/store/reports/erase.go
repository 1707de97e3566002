package reports

import (
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
)

// HoldQueue keeps the organisation from queueing reports and exports until the
// transaction ends, so that About and EraseExports find all of them. It must be
// called before anything is locked.
func (o Org) HoldQueue(tx engine.Tx) error { return tx.Many(o.lockQueue()...) }

// selectOfType selects the reports of a type, or the exports. The condition is
// written so that SQLite uses the index by type, and then the primary key.
const selectOfType = `SELECT ` + reportColumns + ` FROM report
	WHERE org_no = $1 AND report_no IN (SELECT report_no FROM report WHERE org_no = $1 AND report_type = $2) /*FOR UPDATE*/`

// About returns the reports that may contain data of patients: those about one
// of them, and all those that list patients. A report created before a patient
// may have been generated afterwards. On PostgreSQL it locks them.
func (o Org) About(tx engine.Tx, patients []id.Patient) (list []Report, err error) {
	for _, declared := range reporttype.All() {
		if !declared.AboutPatient && !declared.ListsPatients {
			continue
		}
		if err := tx.Query(selectOfType, func(r engine.Row) error {
			rep, err := scanReport(r)
			if declared.ListsPatients || slices.Contains(patients, rep.Patient) {
				list = append(list, rep)
			}
			return err
		}, int64(o.org), declared.Type.Code()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// EraseReports deletes reports. Their files, which may be large, can no longer be
// read, and are left to [System.PurgeAllReports].
func (o Org) EraseReports(tx engine.Tx, list []Report) {
	for i := range list {
		o.remove(tx, &list[i])
	}
}

// EraseExports deletes all exports of the organisation, as EraseReports does
// reports: files that contain a patient must not outlast the patient. It returns
// how many there were. Those being generated are deleted too, and their claims
// are lost.
func (o Org) EraseExports(tx engine.Tx) (erased int, err error) {
	var list []Export
	if err := tx.Query(selectOfType, func(r engine.Row) error {
		x, err := scanExport(r)
		list = append(list, x)
		return err
	}, int64(o.org), int64(exportType)); err != nil {
		return 0, err
	}
	for i := range list {
		o.remove(tx, &list[i])
	}
	return len(list), nil
}
