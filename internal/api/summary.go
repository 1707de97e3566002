package api

import (
	"net/http"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
)

func (a *API) getSummary(x *exchange) (answer, error) {
	q := x.readQuery("as_of")
	asOf, given := q.date("as_of")
	today := pain.DateOf(x.now)
	switch {
	case !given:
		asOf = today
	case today.Before(asOf):
		q.fields.Add("as_of", asOf.String(), "as_of must not be in the future (YYYY-MM-DD, in UTC).")
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	chart, err := x.org.Chart(x.ctx(), patientID)
	if err != nil {
		return answer{}, err
	}
	s, err := summary.Of(&chart, asOf, x.now)
	if err != nil {
		return answer{}, err
	}
	out, err := x.encoded(http.StatusOK, &s)
	out.line = x.saw(audit.ClinicalRead, patientID.String())
	return out, err
}
