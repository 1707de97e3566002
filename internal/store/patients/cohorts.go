package patients

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// Cohort is a saved selection of patients: a list of them, or filters that are
// applied whenever the cohort is used.
type Cohort struct {
	ID   id.Cohort
	Name string
	// Filters is a JSON object with parameters of the analytics, or "" for a
	// list.
	Filters string
	// Members is the length of the list.
	Members int64
	// Patients is the list, in the order in which the patients were registered.
	// It is read with one cohort only.
	Patients []id.Patient
	// Kept has the elements of a FHIR Group that have no field here, as JSON, or
	// is "".
	Kept      string
	CreatedBy string // the identifier of a client or member
	CreatedAt time.Time
}

// MostMembers is the maximum length of the list of a cohort.
const MostMembers = 10_000

// mostCohorts is the maximum number of cohorts of an organisation. Some tests
// reduce it.
var mostCohorts int64 = 1000

const cohortColumns = `id, name, filters, members, kept, created_by, created_at`

func scanCohort(r engine.Row) (c Cohort, err error) {
	c = Cohort{Name: r.Text(1), Filters: r.Text(2), Members: r.Int(3), Kept: r.Text(4), CreatedBy: r.Text(5), CreatedAt: engine.FromMillis(r.Int(6))}
	c.ID, err = id.FromBytes[id.CohortKind](r.Raw(0))
	return c, err
}

// CreateCohort stores a new cohort and returns the outcome, or that of an
// earlier request with the same key. A patient in the list that is not one of
// the organisation is an INVALID_PARAMETER fault that names its place.
//
// On PostgreSQL the patients are locked, in the order of their identifiers, so
// that one that is merged or erased meanwhile does not stay in the list.
func (o Org) CreateCohort(ctx context.Context, c *Cohort, change journal.Change, key *idempotency.Once, out idempotency.Outcome) (idempotency.Outcome, error) {
	return o.once.Do(ctx, key, c.CreatedAt, func(tx engine.Tx) (idempotency.Outcome, error) {
		var count int64
		if _, err := engine.One(tx, `SELECT count(*) FROM cohort WHERE org_no = $1`, func(r engine.Row) { count = r.Int(0) }, int64(o.org)); err != nil {
			return out, err
		}
		if count >= mostCohorts {
			return out, fault.New(fault.Conflict, fmt.Sprintf("An organisation can have at most %d cohorts; delete one first.", mostCohorts), "limit", mostCohorts)
		}
		if len(c.Patients) > 0 {
			numbers, err := o.namedPatients(tx, c.Patients)
			if err != nil {
				return out, err
			}
			tx.Last(engine.Stmt{SQL: o.db.Dialect().AddMembers, Args: []any{int64(o.org), c.ID.Bytes(), numbers}})
		}
		tx.Last(engine.Stmt{SQL: `INSERT INTO cohort (org_no, ` + cohortColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			Args: []any{int64(o.org), c.ID.Bytes(), c.Name, c.Filters, int64(len(c.Patients)), c.Kept, c.CreatedBy, engine.Millis(c.CreatedAt)}})
		tx.Last(o.journal.Entry(o.org, change)...)
		return out, nil
	})
}

// namedPatients locks patients and returns their numbers as a JSON list.
func (o Org) namedPatients(tx engine.Tx, wanted []id.Patient) (numbers string, err error) {
	names := make([]string, len(wanted))
	for i, p := range wanted {
		names[i] = hex.EncodeToString(p.Bytes())
	}
	slices.Sort(names) // locks are taken in this order
	list, err := json.Marshal(names)
	if err != nil {
		return "", err
	}
	var found []int64
	here := map[id.Patient]bool{}
	if err := tx.Query(o.db.Dialect().Named, func(r engine.Row) error {
		patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
		here[patientID] = true
		found = append(found, r.Int(0))
		return err
	}, int64(o.org), string(list)); err != nil {
		return "", err
	}
	var fields fault.Fields
	for i, p := range wanted {
		if !here[p] {
			fields.Add(fmt.Sprintf("patients[%d]", i), p.String(), fmt.Sprintf("patients[%d] is not a patient of the organisation, or was merged or erased.", i))
		}
	}
	if err := fields.Err(); err != nil {
		return "", err
	}
	list, err = json.Marshal(found)
	return string(list), err
}

// CohortPage returns a page of the cohorts in order of creation, without their
// lists, and their total number.
func (o Org) CohortPage(ctx context.Context, page, limit int64) (list []Cohort, total int64, err error) {
	return engine.Listing[Cohort]{Table: "cohort", Columns: cohortColumns, Order: "id", Scan: scanCohort}.Page(ctx, o.db, int64(o.org), page, limit)
}

// Cohort reads one cohort with its list.
func (o Org) Cohort(ctx context.Context, cohortID id.Cohort) (c Cohort, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		c = Cohort{}
		tx.Last(
			engine.Stmt{SQL: `SELECT ` + cohortColumns + ` FROM cohort WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), cohortID.Bytes()}, Each: func(r engine.Row) (err error) {
				c, err = scanCohort(r)
				return err
			}},
			o.selectMembers(cohortID, &c),
		)
		return nil
	})
	if err == nil && c.ID.IsZero() {
		err = fault.Missing("cohort", cohortID.String())
	}
	return c, err
}

// selectMembers returns the statement that reads the list of a cohort.
func (o Org) selectMembers(cohortID id.Cohort, c *Cohort) engine.Stmt {
	return engine.Stmt{SQL: `SELECT p.id FROM cohort_member m JOIN patient p ON p.org_no = m.org_no AND p.patient_no = m.patient_no
		WHERE m.org_no = $1 AND m.cohort_id = $2 ORDER BY m.patient_no`, Args: []any{int64(o.org), cohortID.Bytes()}, Each: func(r engine.Row) error {
		patientID, err := id.FromBytes[id.PatientKind](r.Raw(0))
		c.Patients = append(c.Patients, patientID)
		return err
	}}
}

// DeleteCohort deletes a cohort. Its patients stay.
func (o Org) DeleteCohort(ctx context.Context, cohortID id.Cohort, change journal.Change) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		gone, err := tx.Exec(`DELETE FROM cohort WHERE org_no = $1 AND id = $2`, int64(o.org), cohortID.Bytes())
		if err == nil && gone == 0 {
			err = fault.Missing("cohort", cohortID.String())
		}
		if err != nil {
			return err
		}
		tx.Last(engine.Stmt{SQL: `DELETE FROM cohort_member WHERE org_no = $1 AND cohort_id = $2`, Args: []any{int64(o.org), cohortID.Bytes()}})
		tx.Last(o.journal.Entry(o.org, change)...)
		return nil
	})
}

const cohortsOf = `(SELECT cohort_id FROM cohort_member WHERE org_no = $1 AND patient_no = $2)`

// moveMember returns the statements that give the places of a patient in
// cohorts to another one. What a Group said of its members is dropped, because
// it may describe the patient. They run when the organisation's counter is
// locked, so that two of them do not wait for each other.
func (o Org) moveMember(from, into int64) []engine.Stmt {
	both := []any{int64(o.org), from, into}
	return []engine.Stmt{
		{SQL: `UPDATE cohort SET kept = '', members = members - (SELECT count(*) FROM cohort_member WHERE org_no = $1 AND cohort_id = cohort.id AND patient_no = $3)
			WHERE org_no = $1 AND id IN ` + cohortsOf, Args: both},
		{SQL: `INSERT INTO cohort_member (org_no, cohort_id, patient_no) SELECT org_no, cohort_id, $3 FROM cohort_member WHERE org_no = $1 AND patient_no = $2
			ON CONFLICT DO NOTHING`, Args: both},
		{SQL: `DELETE FROM cohort_member WHERE org_no = $1 AND patient_no = $2`, Args: both[:2]},
	}
}

// removeMember returns the statements that remove a patient from all cohorts.
func (o Org) removeMember(patientNo int64) []engine.Stmt {
	args := []any{int64(o.org), patientNo}
	return []engine.Stmt{
		{SQL: `UPDATE cohort SET kept = '', members = members - 1 WHERE org_no = $1 AND id IN ` + cohortsOf, Args: args},
		{SQL: `DELETE FROM cohort_member WHERE org_no = $1 AND patient_no = $2`, Args: args},
	}
}
