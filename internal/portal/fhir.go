package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

type fhirPage struct {
	Patient   pain.Patient
	Resources []resourceText
	pager     // of records
}

// resourceText is a FHIR resource as indented JSON, and the type and time of the
// record that it is of.
type resourceText struct {
	Type, ID, JSON string
	Of             pain.DataType
	At             time.Time
}

// fhirResources shows a patient as FHIR resources: on the first page the
// Patient and the Conditions, then on all pages those of the records, newest
// first. As for FHIR clients, records entered in error are left out.
func (p *Portal) fhirResources(v *visit) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	page := fhirPage{}
	if page.pager, err = v.pager(nil); err != nil {
		return err
	}
	var types []pain.DataType
	for _, info := range pain.DataTypes() {
		types = append(types, info.Type)
	}
	chart, err := v.org.FHIRChart(v.r.Context(), patientID, patients.FHIRQuery{Types: types})
	if err != nil {
		return err
	}
	page.Patient, page.Total = chart.Patient.Patient, int64(len(chart.Records))
	if err := page.add(&chart, p.FHIR); err != nil {
		return err
	}
	for _, action := range []audit.Action{audit.PatientRead, audit.ClinicalRead} {
		if err := v.saw(action, patientID.String()); err != nil {
			return err
		}
	}
	return v.show("fhir", "FHIR resources", page)
}

// add adds the resources of the page.
func (p *fhirPage) add(chart *patients.FHIRChart, m fhir.Mapping) error {
	if p.Page == 1 {
		patient, err := chart.Patient.Resource(m)
		if err != nil {
			return err
		}
		conditions, err := chart.Patient.Conditions(m)
		if err != nil {
			return err
		}
		if err := p.show(nil, append([]fhir.Resource{patient}, conditions...)); err != nil {
			return err
		}
	}
	slices.Reverse(chart.Records)
	first := min((p.Page-1)*pageSize, p.Total)
	for i := range chart.Records[first:min(first+pageSize, p.Total)] {
		rec := &chart.Records[int(first)+i]
		list, err := rec.Resources(m)
		if err != nil {
			return err
		}
		if err := p.show(&rec.Record, list); err != nil {
			return err
		}
	}
	return nil
}

// show adds resources, which are of a record unless it is nil.
func (p *fhirPage) show(of *pain.Record, list []fhir.Resource) error {
	for _, r := range list {
		var text bytes.Buffer
		if err := json.Indent(&text, r.JSON, "", "  "); err != nil {
			return fmt.Errorf("indent %s/%s: %w", r.Type, r.ID, err)
		}
		shown := resourceText{Type: r.Type, ID: r.ID, JSON: text.String()}
		if of != nil {
			shown.Of, shown.At = of.Type, of.RecordedAt
		}
		p.Resources = append(p.Resources, shown)
	}
	return nil
}
