package reports

import (
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
)

// About returns the reports that may contain data of patients: those about one
// of them, and all those that list patients. A report created before a patient
// may have been generated afterwards. On PostgreSQL it locks them.
func (o Org) About(tx engine.Tx, patients []id.Patient) (list []Report, err error) {
	for _, declared := range reporttype.All() {
		if !declared.AboutPatient && !declared.ListsPatients {
			continue
		}
		if err := tx.Query(`SELECT `+reportColumns+` FROM report WHERE org_no = $1 AND report_type = $2 /*FOR UPDATE*/`, func(r engine.Row) error {
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

// EraseReports deletes reports and their files at once.
func (o Org) EraseReports(tx engine.Tx, list []Report) error {
	for i := range list {
		if err := o.erase(tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// EraseExports deletes all exports of the organisation and their files at once:
// files that contain a patient must not outlast the patient. It returns how many
// there were. Those being generated are deleted too, and their claims are lost.
func (o Org) EraseExports(tx engine.Tx) (erased int, err error) {
	var list []Export
	if err := tx.Query(`SELECT `+reportColumns+` FROM report WHERE org_no = $1 AND report_type = 100 /*FOR UPDATE*/`, func(r engine.Row) error {
		x, err := scanExport(r)
		list = append(list, x)
		return err
	}, int64(o.org)); err != nil {
		return 0, err
	}
	for i := range list {
		if err := o.erase(tx, &list[i]); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// erase is remove, with the files deleted at once. A node may be writing another
// chunk, which is left to the purge.
func (o Org) erase(tx engine.Tx, of work) error {
	if _, err := tx.Exec(`DELETE FROM report_chunk WHERE org_no = $1 AND report_no = $2`, int64(o.org), of.job().no); err != nil {
		return err
	}
	o.remove(tx, of)
	return nil
}
