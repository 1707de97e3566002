package store

import "anodyne.example/anodyne/internal/store/engine"

// checkCohorts compares the lists of cohorts with their lengths and with the
// patients.
func checkCohorts(tx engine.Tx) (problems []string, err error) {
	err = tx.Query(`SELECT o.name FROM org o WHERE EXISTS (
			SELECT 1 FROM cohort c WHERE c.org_no = o.org_no AND c.members <> (SELECT count(*) FROM cohort_member m WHERE m.org_no = c.org_no AND m.cohort_id = c.id))
		OR EXISTS (SELECT 1 FROM cohort_member m WHERE m.org_no = o.org_no AND (
			NOT EXISTS (SELECT 1 FROM patient p WHERE p.org_no = m.org_no AND p.patient_no = m.patient_no)
			OR NOT EXISTS (SELECT 1 FROM cohort c WHERE c.org_no = m.org_no AND c.id = m.cohort_id)))
		ORDER BY o.name`, func(r engine.Row) error {
		problems = append(problems, "organisation "+r.Text(0)+": the lists of its cohorts do not match its cohorts and patients")
		return nil
	})
	return problems, err
}
