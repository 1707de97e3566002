package portal

import (
	"net/url"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/patients"
)

type patientPage struct {
	Patient pain.Patient
	Age     int
	// Identifiers are the patient's numbers in other systems.
	Identifiers []pain.Identifier
	History     []condition
	Summary     summary.Summary
	Current     []medicineRow
	Tiles       []tile
	Flags       []string
	Open        []string // flags that the available data does not decide
	Curves      []drawing
	Records     []recordRow
	Type        string
	Types       []pain.DataTypeInfo
	// MayRemove is set if the member may merge the patient.
	MayRemove bool
	pager
}

// Facts are the texts of the patient that have a label.
func (p patientPage) Facts() (list []fact) {
	for _, f := range pain.TextFields() {
		if text := f.Of(&p.Patient); f.Listed && f.Label != "" && text != "" {
			list = append(list, fact{f.Label, text})
		}
	}
	return list
}

// patient shows a patient's charts, medicines, flags and records.
func (p *Portal) patient(v *visit) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	chart, err := v.org.Chart(v.r.Context(), patientID)
	if err != nil {
		return err
	}
	page := patientPage{Patient: chart.Patient, Age: chart.Patient.DateOfBirth.Age(pain.DateOf(v.now)), Type: v.r.URL.Query().Get("type"), Types: pain.DataTypes(), MayRemove: v.has(access.PatientsWrite)}
	if page.Identifiers, err = chart.Patient.Identifiers.List(); err != nil {
		return err
	}
	history, err := chart.Patient.MedicalHistory.Entries()
	if err != nil {
		return err
	}
	for i := range history {
		page.History = append(page.History, condition{&history[i], figure.Condition(&history[i])})
	}
	if page.Summary, err = summary.Of(&chart, pain.DateOf(v.now), v.now); err != nil {
		return err
	}
	if err := page.medicines(&chart); err != nil {
		return err
	}
	if err := page.draw(&chart, v.now); err != nil {
		return err
	}
	if err := v.records(&page, patientID); err != nil {
		return err
	}
	for _, action := range []audit.Action{audit.PatientRead, audit.ClinicalRead} {
		if err := v.saw(action, patientID.String()); err != nil {
			return err
		}
	}
	return v.show("patient", chart.Patient.Name, page)
}

// draw renders the charts of the last year and the figures above them.
func (p *patientPage) draw(chart *summary.Chart, now time.Time) error {
	to := pain.DateOf(now)
	curves, err := figure.CurvesOf(chart, &p.Summary, pain.DateOf(now.AddDate(0, 0, -364)), to)
	if err != nil {
		return err
	}
	p.Curves = []drawing{
		draw("pain", "Pain over the last year ("+curves.Kind+")", curves.Pain, 300),
		draw("mme", "Opioid dose, MME a day", curves.MME, 150),
	}
	s := &p.Summary
	if latest := s.Pain.Latest; latest != nil {
		p.Tiles = append(p.Tiles, tile{figure.Num(latest.Score), "latest pain, " + figure.Words(latest.Band)})
	}
	if change := s.Pain.Change; change != nil {
		p.Tiles = append(p.Tiles, tile{figure.Signed(change.Points), "points since the baseline"})
	}
	for _, in := range s.Instruments {
		if in.Instrument == "peg" {
			p.Tiles = append(p.Tiles, tile{figure.Num(in.Score), "PEG, " + in.RecordedAt[:10]})
		}
	}
	p.Tiles = append(p.Tiles, doseTile(&s.MME))
	for _, f := range s.Flags {
		switch {
		case f.Active != nil && *f.Active:
			p.Flags = append(p.Flags, figure.Capital(figure.Flag(&f)))
		case f.Active == nil && f.Flag != "phq9_item9": // not screened
			p.Open = append(p.Open, figure.Capital(figure.Flag(&f)))
		}
	}
	return nil
}

// condition is an entry of the medical history and whether it is active.
type condition struct {
	*pain.HistoryEntry
	State string
}

// medicineRow is a current medicine with its dosage and any doubts.
type medicineRow struct {
	summary.Medication
	Dosage   string
	Basis    string // basis of the classification, if it is not the dictionary
	Warnings []string
}

// medicines lists the current medicines.
func (p *patientPage) medicines(chart *summary.Chart) error {
	for _, m := range p.Summary.Medications.Current {
		row := medicineRow{Medication: m}
		at := slices.IndexFunc(chart.Records, func(rec pain.Record) bool { return rec.ID.String() == m.RecordID })
		if at >= 0 {
			v, err := pain.ReadMedication(chart.Records[at].Value)
			if err != nil {
				return err
			}
			row.Dosage, row.Basis = figure.Dosage(&v), figure.Basis(&v)
			for _, w := range v.Derived.Warnings {
				row.Warnings = append(row.Warnings, figure.Words(w))
			}
		}
		p.Current = append(p.Current, row)
	}
	return nil
}

// doseTile shows the current dose. Missing parts are stated, instead of
// showing a lower number.
func doseTile(m *summary.MME) tile {
	unknown := m.CurrentBand != nil && *m.CurrentBand == summary.UnknownBand
	switch {
	case unknown && m.Current == nil:
		return tile{"not known", "MME a day: a dose or a medicine is unknown"}
	case unknown:
		return tile{"≥ " + figure.Num(m.Current), "MME a day, as prescribed; partly unknown"}
	case m.Incomplete: // the known part is already in the highest band, or was before
		return tile{figure.Num(m.Current), "MME a day, as prescribed; incomplete"}
	case len(m.Timeline) > 0 && m.Timeline[len(m.Timeline)-1].To == m.To && m.Timeline[len(m.Timeline)-1].Assumed:
		return tile{figure.Num(m.Current), "MME a day, as prescribed; assumed to be taken"}
	}
	return tile{figure.Num(m.Current), "MME a day, as prescribed"}
}

// records reads one page of the patient's records, newest first.
func (v *visit) records(page *patientPage, patientID id.Patient) (err error) {
	if page.pager, err = v.pager(url.Values{"type": {page.Type}}); err != nil {
		return err
	}
	q := patients.RecordQuery{Inactive: true, Descending: true, Page: page.Page, Limit: pageSize}
	if page.Type != "" {
		at := slices.IndexFunc(page.Types, func(t pain.DataTypeInfo) bool { return t.Name == page.Type })
		if at < 0 {
			return fault.New(fault.InvalidParameter, "The type of records is unknown.")
		}
		q.Types = []pain.DataType{page.Types[at].Type}
	}
	page.Total, err = v.org.Records(v.r.Context(), patientID, q, func(rec *pain.Record) {
		page.Records = append(page.Records, rowOf(rec))
	})
	return err
}

func (v *visit) patientID() (id.Patient, error) { return pathID[id.PatientKind](v, "id", "patient") }

type recordPage struct {
	Patient pain.Patient
	Chain   []recordRow
}

// record shows a record with those it corrects and those that correct it.
func (p *Portal) record(v *visit) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	recordID, err := pathID[id.RecordKind](v, "record", "clinical record")
	if err != nil {
		return err
	}
	chain, err := v.org.History(v.r.Context(), patientID, recordID)
	if err != nil {
		return err
	}
	page := recordPage{}
	if page.Patient, err = v.org.Patient(v.r.Context(), patientID); err != nil {
		return err
	}
	for i := range chain {
		page.Chain = append(page.Chain, rowOf(&chain[i]))
	}
	if err := v.saw(audit.ClinicalRead, patientID.String()); err != nil {
		return err
	}
	return v.show("record", "Record", page)
}
