package patients

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// checkedAtOnce is the number of patients that a check reads at a time.
const checkedAtOnce = 200

// Repaired counts what CheckSeries repaired.
type Repaired struct {
	Years     int // of patients' series
	Standings int // patients whose alerts did not match the records
}

// CheckSeries rebuilds every patient's series from the records, uses them to
// check the patient's alert standing, and describes the differences from what
// is stored. If repair is set, it repairs them, one patient at a time, and
// describes only what it could not repair. It may run while a server is
// running.
func (s System) CheckSeries(ctx context.Context, repair bool, progress func(org string, at, of int64)) (problems []string, repaired Repaired, err error) {
	err = s.eachPatients(ctx, progress, func(o Org, name string, first, last int64) error {
		wrong, err := o.compareSeries(ctx, first, last)
		if err != nil {
			return err
		}
		for _, w := range wrong {
			if repair && w.repairable {
				did, err := o.repairSeries(ctx, w.patientNo)
				if err != nil {
					return err
				}
				repaired.Years += did.Years
				repaired.Standings += did.Standings
				continue
			}
			problems = append(problems, "organisation "+name+": "+w.problem)
		}
		return nil
	})
	return problems, repaired, err
}

// eachPatients calls look for ranges of patients of all organisations, ordered
// by number.
func (s System) eachPatients(ctx context.Context, progress func(org string, at, of int64), look func(o Org, name string, first, last int64) error) error {
	type org struct {
		no       access.OrgNo
		name     string
		patients int64
	}
	var orgs []org
	if err := s.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT o.org_no, o.name, c.patients FROM org o JOIN org_counter c ON c.org_no = o.org_no ORDER BY o.org_no`, func(r engine.Row) error {
			orgs = append(orgs, org{access.OrgNo(r.Int(0)), r.Text(1), r.Int(2)})
			return nil
		})
	}); err != nil {
		return err
	}
	for _, each := range orgs {
		for first := int64(1); first <= each.patients; first += checkedAtOnce {
			last := min(first+checkedAtOnce-1, each.patients)
			if err := look(s.of(each.no), each.name, first, last); err != nil {
				return err
			}
			progress(each.name, last, each.patients)
		}
	}
	return nil
}

// wrongSeries describes what is wrong with one patient's series, or with what
// depends on it.
type wrongSeries struct {
	patientNo  int64
	problem    string
	repairable bool
}

// compareSeries compares the series of a range of patients with their records,
// in one snapshot.
func (o Org) compareSeries(ctx context.Context, first, last int64) (wrong []wrongSeries, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		wrong = nil
		want, unreadable := map[int64]seriesByYear{}, map[int64]string{}
		if err := tx.Query(`SELECT patient_no, id, recorded_at, data_type, value FROM clinical_record
			WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`+ofSeries+` ORDER BY patient_no, recorded_at, id`, func(r engine.Row) error {
			no := r.Int(0)
			if want[no] == nil {
				want[no] = seriesByYear{}
			}
			if err := want[no].addStored(pain.DataType(r.Int(3)), r.Int(2), r.Text(4)); err != nil {
				recordID, _ := id.FromBytes[id.RecordKind](r.Raw(1))
				unreadable[no] = recordID.String()
			}
			return nil
		}, int64(o.org), first, last); err != nil {
			return err
		}
		differs, err := o.differing(tx, first, last, want)
		if err != nil {
			return err
		}
		standings, err := o.wrongStandings(tx, first, last, want, o.db.Now())
		if err != nil {
			return err
		}
		for no, record := range unreadable {
			wrong = append(wrong, wrongSeries{no, "record " + record + " cannot be read", false})
			delete(differs, no)
			delete(standings, no)
		}
		for no, years := range differs {
			slices.Sort(years)
			wrong = append(wrong, wrongSeries{no, fmt.Sprintf("the series of %d does not match the records", years), true})
		}
		for no, problem := range standings {
			wrong = append(wrong, wrongSeries{no, problem, true})
		}
		slices.SortFunc(wrong, func(a, b wrongSeries) int {
			return cmp.Or(cmp.Compare(a.patientNo, b.patientNo), cmp.Compare(a.problem, b.problem))
		})
		return o.namePatients(tx, wrong)
	})
	return wrong, err
}

// namePatients adds the patient to each problem.
func (o Org) namePatients(tx engine.Tx, wrong []wrongSeries) error {
	for i := range wrong {
		w := &wrong[i]
		name := fmt.Sprint("number ", w.patientNo) // records without a patient
		if _, err := engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2`, func(r engine.Row) {
			if patientID, err := id.FromBytes[id.PatientKind](r.Raw(0)); err == nil {
				name = patientID.String()
			}
		}, int64(o.org), w.patientNo); err != nil {
			return err
		}
		w.problem = "patient " + name + ": " + w.problem
	}
	return nil
}

// differing lists the years of patients whose stored series differs from the
// wanted one.
func (o Org) differing(tx engine.Tx, first, last int64, want map[int64]seriesByYear) (map[int64][]int, error) {
	differs := map[int64][]int{}
	stored := map[int64]map[int]bool{}
	if err := tx.Query(`SELECT patient_no, year, bytes FROM patient_series WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`, func(r engine.Row) error {
		no, year := r.Int(0), int(r.Int(1))
		if stored[no] == nil {
			stored[no] = map[int]bool{}
		}
		stored[no][year] = true
		if wanted := want[no].packed(year); wanted == nil || !bytes.Equal(wanted, r.Raw(2)) {
			differs[no] = append(differs[no], year)
		}
		return nil
	}, int64(o.org), first, last); err != nil {
		return nil, err
	}
	for no, years := range want {
		for year, s := range years {
			if !stored[no][year] && !s.Empty() {
				differs[no] = append(differs[no], year)
			}
		}
	}
	return differs, nil
}

// packed returns the encoding of a year, or nil if it is empty.
func (y seriesByYear) packed(year int) []byte {
	s := y[year]
	if s == nil || s.Empty() {
		return nil
	}
	s.Sort()
	return s.Encode(nil)
}

// repairSeries rewrites the series of one patient from the records. The journal
// notifies nodes that have it in memory.
func (o Org) repairSeries(ctx context.Context, patientNo int64) (repaired Repaired, err error) {
	now := o.db.Now()
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		repaired = Repaired{}
		var patientID id.Patient
		// The lock keeps the records from changing.
		if _, err := engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(r engine.Row) {
			patientID, _ = id.FromBytes[id.PatientKind](r.Raw(0)) // records without a patient have no identifier to report
		}, int64(o.org), patientNo); err != nil {
			return err
		}
		want, years, err := o.renewSeries(tx, patientNo)
		if err != nil {
			return err
		}
		if repaired.Years = years; repaired.Years > 0 && !patientID.IsZero() {
			line := audit.Entry{At: now, Actor: audit.Operator, Action: audit.SeriesRepair, Resource: patientID.String()}
			tx.Last(o.journal.Entry(o.org, journal.Change{Audit: line, Subject: patientID})...)
		}
		judged, err := o.repairStanding(tx, patientNo, want, repaired.Years > 0, now)
		if judged {
			repaired.Standings = 1
		}
		return err
	})
	return repaired, err
}

// renewSeries rebuilds a patient's series from the records, and stores the
// years that differ. It returns the series and the number of those years.
func (o Org) renewSeries(tx engine.Tx, patientNo int64) (want seriesByYear, years int, err error) {
	want = seriesByYear{}
	if err := o.recordedSeries(tx, patientNo, firstYear, lastYear, want, replaced{}); err != nil {
		return nil, 0, err
	}
	differs, err := o.differing(tx, patientNo, patientNo, map[int64]seriesByYear{patientNo: want})
	if err != nil {
		return nil, 0, err
	}
	for _, year := range slices.Sorted(slices.Values(differs[patientNo])) {
		o.keepSeries(tx, patientNo, year, want.year(year))
	}
	return want, len(differs[patientNo]), nil
}

// lockPatient keeps a patient's records from changing until the transaction
// ends. It reports whether there is such a patient.
func (o Org) lockPatient(tx engine.Tx, patientNo int64) (found bool, err error) {
	return engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(engine.Row) {}, int64(o.org), patientNo)
}

// The range of years that a record can have.
const firstYear, lastYear = 1, 9999
