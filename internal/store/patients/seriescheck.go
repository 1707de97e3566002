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

// checkedAtOnce is how many patients one look of a check takes in.
const checkedAtOnce = 200

// Repaired is what CheckSeries put right.
type Repaired struct {
	Years     int // of patients' series
	Standings int // of patients whose alerts were not what the records say
}

// CheckSeries makes every patient's series again from the records, looks by
// them at what is kept of the patient's alerts, and says in words where what is
// stored differs. With repair it puts that right, one patient at a time, and
// tells only what it could not. It works while a server runs.
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

// eachPatients calls look for the patients of all organisations, some at a
// time, by their numbers.
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

// wrongSeries is what is wrong with one patient's series, or with what rests
// on it.
type wrongSeries struct {
	patientNo  int64
	problem    string
	repairable bool
}

// compareSeries holds the series of some patients against their records, both
// of one moment.
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
			if err := want[no].add(pain.DataType(r.Int(3)), engine.FromMillis(r.Int(2)), pain.StoredValue(r.Text(4))); err != nil {
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

// namePatients puts the patient before each problem.
func (o Org) namePatients(tx engine.Tx, wrong []wrongSeries) error {
	for i := range wrong {
		w := &wrong[i]
		name := fmt.Sprint("number ", w.patientNo) // of records without their patient
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

// differing lists the years of some patients whose stored series is not the
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

// packed is the bytes of a year; nil when there is nothing.
func (y seriesByYear) packed(year int) []byte {
	s := y[year]
	if s == nil || s.Empty() {
		return nil
	}
	s.Sort()
	return s.Encode(nil)
}

// repairSeries writes what the records of one patient say. The journal tells
// those who have the series in memory.
func (o Org) repairSeries(ctx context.Context, patientNo int64) (repaired Repaired, err error) {
	now := o.db.Now()
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		repaired = Repaired{}
		var patientID id.Patient
		// The lock keeps the records from changing meanwhile.
		if _, err := engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(r engine.Row) {
			patientID, _ = id.FromBytes[id.PatientKind](r.Raw(0)) // of records without their patient there is none to tell of
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

// renewSeries makes a patient's series from the records, and keeps the years in
// which it differs from what is stored. It gives the series, and how many years
// those are.
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
// ends.
func (o Org) lockPatient(tx engine.Tx, patientNo int64) error {
	_, err := engine.One(tx, `SELECT id FROM patient WHERE org_no = $1 AND patient_no = $2 /*FOR UPDATE*/`, func(engine.Row) {}, int64(o.org), patientNo)
	return err
}

// The years that a record can be of.
const firstYear, lastYear = 1, 9999
