package store

import "anodyne.example/anodyne/internal/store/engine"

// checkVersions checks that every correction has the first record and the place
// that follow from the record it corrects, and that identifiers of resources
// are those of records that exist.
func checkVersions(tx engine.Tx) (problems []string, err error) {
	wrong := func(sql, what string) engine.Stmt {
		return engine.Stmt{SQL: sql, Each: func(r engine.Row) error {
			problems = append(problems, "organisation "+r.Text(0)+": "+what)
			return nil
		}}
	}
	err = tx.Many(
		wrong(`SELECT DISTINCT o.name FROM org o JOIN clinical_record r ON r.org_no = o.org_no AND r.corrects IS NOT NULL
			JOIN clinical_record c ON c.org_no = r.org_no AND c.id = r.corrects
			WHERE r.root IS NULL OR r.version IS NULL OR r.root <> COALESCE(c.root, c.id) OR r.version <> COALESCE(c.version, 1) + 1 ORDER BY o.name`,
			"a correction does not name the first record of its chain"),
		wrong(`SELECT DISTINCT o.name FROM org o JOIN record_identifier i ON i.org_no = o.org_no
			LEFT JOIN clinical_record r ON r.org_no = i.org_no AND r.id = i.root WHERE r.id IS NULL ORDER BY o.name`,
			"an identifier is that of a clinical record that does not exist"),
	)
	return problems, err
}
