package store

import (
	"context"
	"fmt"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/patients"
)

// CheckTables checks the database and describes the problems found: in the file
// itself on SQLite, in the counters that pages and totals depend on, and in the
// table by which identifiers are found. Each organisation is checked in a
// snapshot of its own, because no snapshot of a Citus cluster covers all of them.
func (s System) CheckTables(ctx context.Context) (problems []string, err error) {
	type named struct {
		no   int64
		name string
	}
	var orgs []named
	if err := s.db.Read(ctx, func(tx engine.Tx) error {
		problems, orgs = nil, nil
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
		if err := s.db.Tampered(tx, func(what string) {
			problems = append(problems, "the audit log: "+what+" that does not belong to this program")
		}); err != nil {
			return err
		}
		return tx.Query(`SELECT org_no, name FROM org ORDER BY name`, func(r engine.Row) error {
			orgs = append(orgs, named{r.Int(0), r.Text(1)})
			return nil
		})
	}); err != nil {
		return nil, err
	}
	for _, org := range orgs {
		var found []string
		if err := s.db.Snapshot(ctx, func(tx engine.Tx) (err error) {
			found, err = checkOrg(tx, org.no)
			return err
		}); err != nil {
			return problems, fmt.Errorf("organisation %s: %w", org.name, err)
		}
		for _, problem := range found {
			problems = append(problems, "organisation "+org.name+": "+problem)
		}
	}
	return problems, nil
}

// checkOrg checks the tables of one organisation.
func checkOrg(tx engine.Tx, org int64) (problems []string, err error) {
	// wrong is a statement that has rows only if there is a problem.
	wrong := func(what, sql string, more ...any) engine.Stmt {
		first := true
		return engine.Stmt{SQL: sql, Args: append([]any{org}, more...), Each: func(engine.Row) error {
			if first {
				problems, first = append(problems, what), false
			}
			return nil
		}}
	}
	if err := tx.Many(
		wrong("the report counters do not match the reports", `SELECT 1 FROM (
			SELECT report_type, status, reports AS n FROM report_count WHERE org_no = $1
			UNION ALL SELECT report_type, status, -1 FROM report WHERE org_no = $1) AS counted
			GROUP BY report_type, status HAVING sum(n) <> 0`),
		wrong("a correction does not name the first record of its chain", `SELECT 1 FROM clinical_record r
			JOIN clinical_record c ON c.org_no = $1 AND c.id = r.corrects WHERE r.org_no = $1 AND r.corrects IS NOT NULL
			AND (r.root IS NULL OR r.version IS NULL OR r.root <> COALESCE(c.root, c.id) OR r.version <> COALESCE(c.version, 1) + 1) LIMIT 1`),
		wrong("an identifier refers to a clinical record that does not exist", `SELECT 1 FROM record_identifier i
			LEFT JOIN clinical_record r ON r.org_no = $1 AND r.id = i.root WHERE i.org_no = $1 AND r.id IS NULL LIMIT 1`),
		wrong(wrongCohorts, `SELECT 1 FROM cohort c WHERE c.org_no = $1
			AND c.members <> (SELECT count(*) FROM cohort_member m WHERE m.org_no = $1 AND m.cohort_id = c.id) LIMIT 1`),
		wrong(wrongCohorts, `SELECT 1 FROM cohort_member m WHERE m.org_no = $1 AND (
			NOT EXISTS (SELECT 1 FROM patient p WHERE p.org_no = $1 AND p.patient_no = m.patient_no)
			OR NOT EXISTS (SELECT 1 FROM cohort c WHERE c.org_no = $1 AND c.id = m.cohort_id)) LIMIT 1`),
		wrong("the gaps in the patient numbers do not match the merged and erased patients", `SELECT 1 FROM (
			SELECT block, holes AS n FROM patient_hole WHERE org_no = $1
			UNION ALL SELECT (patient_no - 1) / $2, -1 FROM patient_gone WHERE org_no = $1) AS counted GROUP BY block HAVING sum(n) <> 0`, int64(patients.HoleBlock)),
		wrong("a patient that was merged or erased still exists", `SELECT 1 FROM patient_gone g WHERE g.org_no = $1 AND (
			EXISTS (SELECT 1 FROM patient p WHERE p.org_no = $1 AND p.patient_no = g.patient_no)
			OR EXISTS (SELECT 1 FROM patient p WHERE p.org_no = $1 AND p.id = g.id)) LIMIT 1`),
		wrongCounters(org, &problems),
	); err != nil {
		return nil, err
	}
	wrongIdentifiers, err := checkIdentifiers(tx, org)
	return append(problems, wrongIdentifiers...), err
}

const wrongCohorts = "the members of cohorts do not match the cohorts and patients"

// wrongCounters compares the counters of patients with the patients. Every
// assigned number belongs to a patient, or to one that was merged or erased.
func wrongCounters(org int64, problems *[]string) engine.Stmt {
	return engine.Stmt{SQL: `SELECT c.patients - c.gone, coalesce(n.patients, 0), c.gone, coalesce(n.gone, 0), c.patients, coalesce(n.highest, 0) FROM org_counter c
		CROSS JOIN (SELECT sum(here) AS patients, count(*) - sum(here) AS gone, max(patient_no) AS highest FROM (
			SELECT patient_no, 1 AS here FROM patient WHERE org_no = $1 UNION ALL SELECT patient_no, 0 FROM patient_gone WHERE org_no = $1) AS numbered) n
		WHERE c.org_no = $1`, Args: []any{org}, Each: func(r engine.Row) error {
		if counted, n, highest := r.Int(0), r.Int(1), r.Int(5); counted != n || r.Int(4) != highest {
			*problems = append(*problems, fmt.Sprintf("the counter says %d patients, but there are %d, up to number %d", counted, n, highest))
		}
		if counted, n := r.Int(2), r.Int(3); counted != n {
			*problems = append(*problems, fmt.Sprintf("the counter says %d merged or erased patients, but there are %d", counted, n))
		}
		return nil
	}}
}
