package portal

import (
	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/reports"
)

type homePage struct {
	Patients     int64
	Applications []clients.Client
	Live         int
	// Waiting is the number of applications that wait for an administrator.
	Waiting  int
	Webhooks int64
	Reports  int64
}

// home shows an overview of the organisation.
func (p *Portal) home(v *visit) error {
	var page homePage
	var err error
	if v.has(access.PatientsRead) {
		if page.Patients, err = v.org.PatientPage(v.r.Context(), 1, 0, func(patients.PatientItem) {}); err != nil {
			return err
		}
	}
	if page.Applications, err = v.org.Clients(v.r.Context()); err != nil {
		return err
	}
	for _, c := range page.Applications {
		if !c.RevokedAt.IsZero() {
			continue
		}
		page.Live++
		if c.Requested != 0 {
			page.Waiting++
		}
	}
	if _, page.Webhooks, err = v.org.WebhookPage(v.r.Context(), 1, 1); err != nil {
		return err
	}
	if v.has(access.ReportsRead) {
		if page.Reports, err = v.org.Reports(v.r.Context(), reports.ReportQuery{Page: 1, Limit: 1}, func(*reports.Report) {}); err != nil {
			return err
		}
	}
	return v.show("home", "Overview", page)
}
