package portal

import (
	"anodyne/internal/store"
)

type homePage struct {
	Patients     int64
	Applications []store.Client
	Live         int
	Webhooks     int64
	Reports      int64
}

// home is what an organisation has, at a glance.
func (p *Portal) home(v *visit) error {
	patients, err := v.org.PatientPage(v.r.Context(), 1, 0, func(store.PatientItem) {})
	if err != nil {
		return err
	}
	clients, err := v.org.Clients(v.r.Context())
	if err != nil {
		return err
	}
	page := homePage{Patients: patients, Applications: clients}
	for i := range clients {
		if clients[i].RevokedAt.IsZero() {
			page.Live++
		}
	}
	if _, page.Webhooks, err = v.org.WebhookPage(v.r.Context(), 1, 1); err != nil {
		return err
	}
	if page.Reports, err = v.org.Reports(v.r.Context(), store.ReportQuery{Page: 1, Limit: 1}, func(*store.Report) {}); err != nil {
		return err
	}
	return v.show("home", "Overview", page)
}
