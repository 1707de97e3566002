package patients

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"anodyne.example/anodyne/internal/store/engine"
)

// recount computes the counts of a range of patients from their records, in the
// format of migration 0009.
const recount = `SELECT patient_no, period, string_agg(CAST(slot AS TEXT) || ' ' || CAST(n AS TEXT), ' ' ORDER BY slot) AS counts FROM (
		SELECT patient_no, day / 128 AS period, day % 128 * 32 + data_type * 2 + CASE WHEN status > 1 THEN 1 ELSE 0 END AS slot, count(*) AS n FROM (
			SELECT patient_no, data_type, status, (recorded_at + 62135596800000) / 86400000 AS day FROM clinical_record
			WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3) AS dated
		GROUP BY patient_no, day / 128, day % 128 * 32 + data_type * 2 + CASE WHEN status > 1 THEN 1 ELSE 0 END) AS counted
	GROUP BY patient_no, period`

// CheckCounts counts every patient's records again and describes stored counts
// that differ. If repair is set, it repairs them, one patient at a time, and
// returns the number of patients repaired. It may run while a server is
// running.
func (s System) CheckCounts(ctx context.Context, repair bool, progress func(org string, at, of int64)) (problems []string, repaired int, err error) {
	err = s.eachPatients(ctx, progress, func(o Org, name string, first, last int64) error {
		wrong, err := o.compareCounts(ctx, first, last)
		if err != nil {
			return err
		}
		for _, patientNo := range wrong {
			if !repair {
				problems = append(problems, fmt.Sprintf("organisation %s: patient number %d: the record counts do not match the records", name, patientNo))
				continue
			}
			if err := o.repairCounts(ctx, patientNo); err != nil {
				return err
			}
			repaired++
		}
		return nil
	})
	return problems, repaired, err
}

// compareCounts returns the numbers of the patients whose counts are wrong.
func (o Org) compareCounts(ctx context.Context, first, last int64) (wrong []int64, err error) {
	type place struct{ patientNo, period int64 }
	stored, wanted := map[place]string{}, map[place]string{}
	into := func(counts map[place]string) func(engine.Row) error {
		return func(r engine.Row) error {
			counts[place{r.Int(0), r.Int(1)}] = r.Text(2)
			return nil
		}
	}
	args := []any{int64(o.org), first, last}
	if err := o.db.Snapshot(ctx, func(tx engine.Tx) error {
		tx.Last(
			engine.Stmt{SQL: `SELECT patient_no, period, counts FROM record_count WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`, Args: args, Each: into(stored)},
			engine.Stmt{SQL: recount, Args: args, Each: into(wanted)},
		)
		return nil
	}); err != nil {
		return nil, err
	}
	differ := map[int64]bool{}
	for at, counts := range wanted {
		if stored[at] != counts {
			differ[at.patientNo] = true
		}
		delete(stored, at)
	}
	for at := range stored {
		differ[at.patientNo] = true
	}
	return slices.Sorted(maps.Keys(differ)), nil
}

// repairCounts counts the records of one patient again.
func (o Org) repairCounts(ctx context.Context, patientNo int64) error {
	return o.db.Write(ctx, func(tx engine.Tx) error {
		if _, err := o.lockPatient(tx, patientNo); err != nil {
			return err
		}
		tx.Last(
			engine.Stmt{SQL: `DELETE FROM record_count WHERE org_no = $1 AND patient_no = $2`, Args: []any{int64(o.org), patientNo}},
			engine.Stmt{SQL: `INSERT INTO record_count (org_no, patient_no, period, counts) SELECT $1, patient_no, period, counts FROM (` + recount + `) AS recounted`,
				Args: []any{int64(o.org), patientNo, patientNo}},
		)
		return nil
	})
}
