package store

import (
	"context"
	"fmt"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/patients"
)

// CheckTables checks the database and describes the problems found: in the file
// itself on SQLite, in the counters that pages and totals depend on, and in the
// table by which identifiers are found.
func (s System) CheckTables(ctx context.Context) (problems []string, err error) {
	err = s.db.Snapshot(ctx, func(tx engine.Tx) error {
		problems = nil
		if sql := s.db.Dialect().Integrity; sql != "" {
			if err := tx.Query(sql, func(r engine.Row) error {
				if verdict := r.Text(0); verdict != "ok" {
					problems = append(problems, "SQLite: "+verdict)
				}
				return nil
			}); err != nil {
				return err
			}
		}
		if err := tx.Query(s.db.Dialect().Tampered, func(r engine.Row) error {
			problems = append(problems, "the audit log: "+r.Text(0)+" that does not belong to this program")
			return nil
		}); err != nil {
			return err
		}
		if err := tx.Query(`SELECT o.name FROM org o JOIN (SELECT DISTINCT org_no FROM (
			SELECT org_no, report_type, status, reports AS n FROM report_count UNION ALL SELECT org_no, report_type, status, -1 FROM report) AS counted
			GROUP BY org_no, report_type, status HAVING sum(n) <> 0) AS wrong ON wrong.org_no = o.org_no ORDER BY o.name`, func(r engine.Row) error {
			problems = append(problems, "organisation "+r.Text(0)+": the report counters do not match its reports")
			return nil
		}); err != nil {
			return err
		}
		wrong, err := checkIdentifiers(tx)
		if problems = append(problems, wrong...); err != nil {
			return err
		}
		wrong, err = checkVersions(tx)
		if problems = append(problems, wrong...); err != nil {
			return err
		}
		wrong, err = checkCohorts(tx)
		if problems = append(problems, wrong...); err != nil {
			return err
		}
		wrong, err = wrongCounters(tx)
		problems = append(problems, wrong...)
		return err
	})
	return problems, err
}

// wrongCounters compares the counters of patients with the patients. Every
// number given belongs to a patient, or to one that was merged or erased.
func wrongCounters(tx engine.Tx) (problems []string, err error) {
	err = tx.Many(
		engine.Stmt{SQL: `SELECT o.name, c.patients - c.gone, coalesce(n.patients, 0), c.gone, coalesce(n.gone, 0), c.patients, coalesce(n.highest, 0) FROM org o
			JOIN org_counter c ON c.org_no = o.org_no
			LEFT JOIN (SELECT org_no, sum(here) AS patients, count(*) - sum(here) AS gone, max(patient_no) AS highest FROM (
				SELECT org_no, patient_no, 1 AS here FROM patient UNION ALL SELECT org_no, patient_no, 0 FROM patient_gone) AS numbered GROUP BY org_no) n
				ON n.org_no = o.org_no ORDER BY o.name`, Each: func(r engine.Row) error {
			if counted, n, highest := r.Int(1), r.Int(2), r.Int(6); counted != n || r.Int(5) != highest {
				problems = append(problems, fmt.Sprintf("organisation %s: the counter is %d patients, but there are %d, up to number %d", r.Text(0), counted, n, highest))
			}
			if counted, n := r.Int(3), r.Int(4); counted != n {
				problems = append(problems, fmt.Sprintf("organisation %s: the counter is %d merged or erased patients, but there are %d", r.Text(0), counted, n))
			}
			return nil
		}},
		engine.Stmt{SQL: `SELECT o.name FROM org o JOIN (SELECT DISTINCT org_no FROM (
			SELECT org_no, block, holes AS n FROM patient_hole UNION ALL SELECT org_no, (patient_no - 1) / $1, -1 FROM patient_gone) AS counted
			GROUP BY org_no, block HAVING sum(n) <> 0) AS wrong ON wrong.org_no = o.org_no ORDER BY o.name`, Args: []any{int64(patients.HoleBlock)}, Each: func(r engine.Row) error {
			problems = append(problems, "organisation "+r.Text(0)+": the holes in the numbers of patients do not match those merged or erased")
			return nil
		}},
		engine.Stmt{SQL: `SELECT DISTINCT o.name FROM org o JOIN (
			SELECT p.org_no FROM patient_gone g JOIN patient p ON p.org_no = g.org_no AND p.patient_no = g.patient_no
			UNION ALL SELECT p.org_no FROM patient_gone g JOIN patient p ON p.org_no = g.org_no AND p.id = g.id) AS still
			ON still.org_no = o.org_no ORDER BY o.name`, Each: func(r engine.Row) error {
			problems = append(problems, "organisation "+r.Text(0)+": a patient is still there that was merged or erased")
			return nil
		}},
	)
	return problems, err
}
