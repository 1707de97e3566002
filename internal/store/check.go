package store

import (
	"context"
	"fmt"

	"anodyne.example/anodyne/internal/store/engine"
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
		return tx.Query(`SELECT o.name, c.patients, coalesce(p.n, 0), coalesce(p.highest, 0) FROM org o
			JOIN org_counter c ON c.org_no = o.org_no
			LEFT JOIN (SELECT org_no, count(*) AS n, max(patient_no) AS highest FROM patient GROUP BY org_no) p ON p.org_no = o.org_no`, func(r engine.Row) error {
			if counted, n, highest := r.Int(1), r.Int(2), r.Int(3); counted != n || counted != highest {
				problems = append(problems, fmt.Sprintf("organisation %s: the counter is %d patients, but there are %d, up to number %d", r.Text(0), counted, n, highest))
			}
			return nil
		})
	})
	return problems, err
}
