package patients

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
)

// BulkReader receives the data of a FHIR bulk export. Its functions are called
// one at a time.
type BulkReader struct {
	// Cohort selects the patients in the list of a cohort; zero selects all.
	Cohort id.Cohort
	// Patients selects among these; nil selects all. Those that do not exist are
	// skipped.
	Patients []id.Patient
	// Wants selects patients; nil selects all. The series is nil unless
	// WithSeries is set, or if the patient has none.
	Wants      func(*pain.Patient, *series.Series) bool
	WithSeries bool
	// FHIRQuery selects the records.
	FHIRQuery

	// Patient is called for each selected patient, ordered by number, before
	// Record is called for its records, ordered by clinical time.
	Patient func(*FHIRPatient) error
	Record  func(*FHIRRecord) error
	// Chain is called for all versions of each record that can lose a part and
	// had a version superseded since ChangedSince, if records entered in error
	// are selected.
	Chain        func([]FHIRRecord) error
	ChangedSince time.Time
	// Gone is called for the patients that were merged or erased since
	// GoneSince, unless that is zero.
	Gone      func(*Gone) error
	GoneSince time.Time
	// Group is called for each cohort, unless it is nil.
	Group func(*Cohort) error
	// Seen is called to report progress, with the number of patients read so
	// far.
	Seen func(patients, of int64)
}

// Gone is a patient that was merged into another or erased.
type Gone struct {
	ID id.Patient
	// Into is the patient that has the data of a merged one; zero if erased.
	Into id.Patient
	At   time.Time
}

// BulkData reads patients with their records, in one snapshot. Concurrent
// writes are not part of it and are not blocked. The memory needed does not
// depend on how many there are.
func (o Org) BulkData(ctx context.Context, to *BulkReader) error {
	return o.db.LongSnapshot(ctx, func(tx engine.Tx) error {
		if to.Group != nil {
			if err := o.bulkGroups(tx, to.Group); err != nil {
				return err
			}
		}
		listed, all, err := o.bulkNumbers(tx, to)
		if err != nil {
			return err
		}
		if all {
			err = o.bulkAll(tx, to)
		} else {
			err = o.bulkListed(tx, listed, to)
		}
		if err != nil || to.GoneSince.IsZero() {
			return err
		}
		return tx.Query(`SELECT id, merged_into, gone_at FROM patient_gone WHERE org_no = $1 AND gone_at >= $2 ORDER BY gone_at, patient_no`, func(r engine.Row) (err error) {
			gone := Gone{At: engine.FromMillis(r.Int(2))}
			if gone.ID, err = id.FromBytes[id.PatientKind](r.Raw(0)); err == nil && !r.IsNull(1) {
				gone.Into, err = id.FromBytes[id.PatientKind](r.Raw(1))
			}
			if err != nil {
				return err
			}
			return to.Gone(&gone)
		}, int64(o.org), engine.Millis(to.GoneSince))
	})
}

// bulkGroups reads the cohorts with their lists, one at a time.
func (o Org) bulkGroups(tx engine.Tx, each func(*Cohort) error) error {
	var list []Cohort
	if err := tx.Query(`SELECT `+cohortColumns+` FROM cohort WHERE org_no = $1 ORDER BY id`, func(r engine.Row) error {
		c, err := scanCohort(r)
		list = append(list, c)
		return err
	}, int64(o.org)); err != nil {
		return err
	}
	for i := range list {
		read := o.selectMembers(list[i].ID, &list[i])
		if err := tx.Query(read.SQL, read.Each, read.Args...); err != nil {
			return err
		}
		if err := each(&list[i]); err != nil {
			return err
		}
		list[i].Patients = nil
	}
	return nil
}

// bulkNumbers returns the sorted numbers of the selected patients. all reports
// that the selection names none.
func (o Org) bulkNumbers(tx engine.Tx, to *BulkReader) (numbers []int64, all bool, err error) {
	if to.Cohort.IsZero() && to.Patients == nil {
		return nil, true, nil
	}
	if to.Patients != nil {
		for _, patientID := range to.Patients {
			if _, err := engine.One(tx, `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2`, func(r engine.Row) { numbers = append(numbers, r.Int(0)) },
				int64(o.org), patientID.Bytes()); err != nil {
				return nil, false, err
			}
		}
		slices.Sort(numbers)
	}
	if to.Cohort.IsZero() {
		return numbers, false, nil
	}
	found, err := engine.One(tx, `SELECT 1 FROM cohort WHERE org_no = $1 AND id = $2`, func(engine.Row) {}, int64(o.org), to.Cohort.Bytes())
	if err == nil && !found {
		err = fault.Missing("cohort", to.Cohort.String())
	}
	if err != nil {
		return nil, false, err
	}
	var members []int64
	err = tx.Query(`SELECT patient_no FROM cohort_member WHERE org_no = $1 AND cohort_id = $2 ORDER BY patient_no`, func(r engine.Row) error {
		if no := r.Int(0); to.Patients == nil || isIn(numbers, no) {
			members = append(members, no)
		}
		return nil
	}, int64(o.org), to.Cohort.Bytes())
	return members, false, err
}

func isIn(sorted []int64, no int64) bool {
	_, found := slices.BinarySearch(sorted, no)
	return found
}

func (o Org) bulkAll(tx engine.Tx, to *BulkReader) error {
	highest, err := o.lastNo(tx)
	if err != nil {
		return err
	}
	for first := int64(1); first <= highest; first += exportedAtOnce {
		last := min(first+exportedAtOnce-1, highest)
		if err := o.bulkRange(tx, first, last, nil, to); err != nil {
			return err
		}
		to.Seen(last, highest)
	}
	return nil
}

// nearbyNumbers is how far apart patients may be to be read together. What is
// between them is read in vain.
const nearbyNumbers = 2

// bulkListed reads patients by number, those next to each other together.
func (o Org) bulkListed(tx engine.Tx, numbers []int64, to *BulkReader) error {
	for first := 0; first < len(numbers); {
		last := first
		for last+1 < len(numbers) && numbers[last+1]-numbers[last] <= nearbyNumbers && numbers[last+1]-numbers[first] < exportedAtOnce {
			last++
		}
		if err := o.bulkRange(tx, numbers[first], numbers[last], numbers[first:last+1], to); err != nil {
			return err
		}
		first = last + 1
		to.Seen(int64(first), int64(len(numbers)))
	}
	return nil
}

// bulkRange reads the patients numbered first to last, or those of them that
// are listed.
func (o Org) bulkRange(tx engine.Tx, first, last int64, listed []int64, to *BulkReader) error {
	people, err := o.bulkPatients(tx, first, last, listed, to)
	if err != nil || len(people) == 0 {
		return err
	}
	// announce passes on the patients up to a number.
	next := 0
	announce := func(upTo int64) error {
		for ; next < len(people) && people[next].No <= upTo; next++ {
			if err := to.Patient(&people[next].Patient); err != nil {
				return err
			}
		}
		return nil
	}
	if len(to.Types) > 0 {
		corrected := map[id.Record]bool{}
		if err := tx.Query(fhirRecordsIn, func(r engine.Row) error {
			no := r.Int(0)
			if err := announce(no); err != nil {
				return err
			}
			if next == 0 || people[next-1].No != no {
				return nil // not selected
			}
			rec, err := scanFHIRRecord(engine.Shift(r, 1), people[next-1].Patient.ID)
			if err != nil {
				return err
			}
			if rec.Status == pain.Superseded {
				if fhir.HasParts(rec.Type) && !rec.UpdatedAt.Before(to.ChangedSince) {
					corrected[rec.Root] = true
				}
				return nil
			}
			return to.Record(&rec)
		}, int64(o.org), first, last, to.types(), to.highest()); err != nil {
			return err
		}
		if err := o.bulkChains(tx, corrected, to.Chain); err != nil {
			return err
		}
	}
	return announce(last)
}

// bulkChains reads all versions of records, in order.
func (o Org) bulkChains(tx engine.Tx, roots map[id.Record]bool, each func([]FHIRRecord) error) error {
	for _, root := range slices.SortedFunc(maps.Keys(roots), func(a, b id.Record) int { return bytes.Compare(a.Bytes(), b.Bytes()) }) {
		chain, err := o.fhirVersions(tx, root)
		if err == nil {
			err = each(chain)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bulkPatients reads the selected patients of a range, in order.
func (o Org) bulkPatients(tx engine.Tx, first, last int64, listed []int64, to *BulkReader) (people []FHIRChart, err error) {
	if err := tx.Query(fhirPatients, func(r engine.Row) error {
		if listed != nil && !isIn(listed, r.Int(0)) {
			return nil
		}
		c, err := scanFHIRChart(r)
		people = append(people, c)
		return err
	}, int64(o.org), first, last); err != nil {
		return nil, err
	}
	if to.Wants == nil || len(people) == 0 {
		return people, nil
	}
	bySeries := map[int64]*series.Series{}
	if to.WithSeries {
		byNo := make(map[int64]pain.Patient, len(people))
		for i := range people {
			byNo[people[i].No] = people[i].Patient.Patient
		}
		if bySeries, err = o.seriesIn(tx, first, last, byNo); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(people, func(c FHIRChart) bool { return !to.Wants(&c.Patient.Patient, bySeries[c.No]) }), nil
}
