package portal

import (
	"anodyne/internal/store"
)

type homePage struct {
	Patients     int64
	Applications []store.Client
	Live         int
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
	return v.show("home", "Overview", page)
}
