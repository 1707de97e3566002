package api

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// fhirChart is what a search looks at of one patient.
type fhirChart struct {
	patients.FHIRChart
	kind         byte // of its places
	patientPlace string
	last         bool // no patient follows
}

// fhirSource has the charts that a search looks at.
type fhirSource interface {
	// each calls look for the charts from that of a place on, in order.
	each(from fhirPlace, look func(*fhirChart) error) error
}

// source returns where the results of a search may be: in named resources, in
// the charts of some patients, those with a name, or anywhere.
func (s *fhirSearch) source() (fhirSource, error) {
	if ids, given := s.Exact("_id"); given {
		return s.named(ids)
	}
	if s.Type != "Patient" {
		for _, name := range []string{"patient", "subject"} {
			if list, given := s.Exact(name); given {
				return s.ofPatients(list), nil
			}
		}
		if ids, given := s.ExactOfPatient("_id"); given {
			return s.ofPatients(ids), nil
		}
	}
	identifiers, given := s.ExactOfPatient("identifier")
	if s.Type == "Patient" {
		identifiers, given = s.Exact("identifier")
	}
	if given {
		return s.identified(identifiers)
	}
	if fhirRecords[s.Type] != nil {
		if list, given := s.Exact("identifier"); given {
			return s.identifiedRecords(list)
		}
	}
	return s.inDirectory()
}

func (s *fhirSearch) query() patients.FHIRQuery {
	return patients.FHIRQuery{Types: fhirRecords[s.Type], InError: s.inError()}
}

// listSource has the charts of some patients, which are read one by one, or
// were read.
type listSource struct {
	s    *fhirSearch
	ids  []id.Patient // sorted
	read map[id.Patient]*patients.FHIRChart
}

func (l *listSource) each(from fhirPlace, look func(*fhirChart) error) error {
	for i, patientID := range l.ids {
		place := idOf(patientID)
		if place < from.patient {
			continue
		}
		chart, ready := l.read[patientID]
		if !ready {
			read, err := l.s.x.org.FHIRChart(l.s.x.ctx(), patientID, l.s.query())
			if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) {
				continue
			}
			if err != nil {
				return err
			}
			chart = &read
		}
		if err := look(&fhirChart{*chart, placeListed, place, i == len(l.ids)-1}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a patient, once.
func (l *listSource) add(patientID id.Patient) {
	at, has := slices.BinarySearchFunc(l.ids, patientID, func(a, b id.Patient) int { return bytes.Compare(a.Bytes(), b.Bytes()) })
	if !has {
		l.ids = slices.Insert(l.ids, at, patientID)
	}
}

// ofPatients returns the charts of patients, named by references or ids.
func (s *fhirSearch) ofPatients(list []search.Exact) *listSource {
	l := &listSource{s: s}
	for _, one := range list {
		if patientID, ok := parsePatientID(strings.TrimPrefix(one.Value, "Patient/")); ok {
			l.add(patientID)
		}
	}
	return l
}

// identified returns the charts of the patients with some identifiers.
func (s *fhirSearch) identified(list []search.Exact) (*listSource, error) {
	l := &listSource{s: s}
	for _, one := range list {
		if patientID, err := id.Parse[id.PatientKind](one.Value); err == nil {
			l.add(patientID)
		}
		sought := pain.Identifier{Value: one.Value}
		if one.System != "" {
			sought.System = s.x.api.mapping.IdentifierSystem(one.System)
		}
		if err := s.x.org.IdentifiedPatients(s.x.ctx(), sought, func(item patients.PatientItem) { l.add(item.ID) }); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// identifiedRecords returns the records with some identifiers.
func (s *fhirSearch) identifiedRecords(list []search.Exact) (*listSource, error) {
	var roots []id.Record
	for _, one := range list {
		if root, err := id.Parse[id.RecordKind](one.Value); err == nil {
			roots = append(roots, root)
		}
		found, err := s.x.org.IdentifiedRecords(s.x.ctx(), one.System, one.Value)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			roots = append(roots, r.Root)
		}
	}
	return s.records(roots)
}

// named returns the resources with some ids.
func (s *fhirSearch) named(ids []search.Exact) (*listSource, error) {
	if fhirRecords[s.Type] == nil { // the id begins with that of the patient
		for i := range ids {
			ids[i].Value, _, _ = strings.Cut(ids[i].Value, "-")
		}
		return s.ofPatients(ids), nil
	}
	var roots []id.Record
	for _, one := range ids {
		if root, ok := parseRecordID(one.Value); ok {
			roots = append(roots, root)
		}
	}
	return s.records(roots)
}

// records returns the latest versions of records, with their patients.
func (s *fhirSearch) records(roots []id.Record) (*listSource, error) {
	l := &listSource{s: s, read: map[id.Patient]*patients.FHIRChart{}}
	slices.SortFunc(roots, func(a, b id.Record) int { return bytes.Compare(a.Bytes(), b.Bytes()) })
	for _, root := range slices.Compact(roots) {
		chain, err := s.x.org.FHIRVersions(s.x.ctx(), root)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		latest := chain[len(chain)-1]
		if !latest.Status.Active() && !s.inError() {
			continue
		}
		chart := l.read[latest.PatientID]
		if chart == nil {
			p, err := s.x.org.FHIRPatient(s.x.ctx(), latest.PatientID)
			if fault.Is(err, fault.NotFound) || fault.Is(err, fault.PatientMerged) { // since the record was read
				continue
			}
			if err != nil {
				return nil, err
			}
			chart = &patients.FHIRChart{Patient: p}
			l.read[latest.PatientID] = chart
			l.add(latest.PatientID)
		}
		chart.Records = append(chart.Records, latest)
		if s.inError() {
			chart.Earlier = append(chart.Earlier, chain[:len(chain)-1]...)
		}
	}
	return l, nil
}

// scanSource has the charts of all patients.
type scanSource struct{ s *fhirSearch }

func (c *scanSource) each(from fhirPlace, look func(*fhirChart) error) error {
	first := int64(1)
	if from.kind == placeScanned {
		first = from.number()
	}
	return c.s.scan(first, placeScanned, look)
}

// scan calls look for the charts of all patients from a number on.
func (s *fhirSearch) scan(first int64, kind byte, look func(*fhirChart) error) error {
	for step := fhirScanStep; ; step = min(2*step, 1024) {
		last, found := first+step-1, 0
		highest, err := s.x.org.FHIRCharts(s.x.ctx(), first, last, s.query(), func(chart *patients.FHIRChart) error {
			found += 1 + len(chart.Records)
			return look(&fhirChart{*chart, kind, strconv.FormatInt(chart.No, 10), false})
		})
		if err != nil || last >= highest {
			return err
		}
		if first = last + 1; found > 2000 { // charts are long
			step = max(1, step/4)
		}
	}
}
