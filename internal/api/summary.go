package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"anodyne/internal/audit"
	"anodyne/internal/pain"
	"anodyne/internal/pain/summary"
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
	buf := bytes.NewBuffer(x.buf)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&s); err != nil {
		return answer{}, err
	}
	x.buf = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	line := x.line(audit.ClinicalRead, patientID.String())
	return answer{status: http.StatusOK, body: x.buf, line: &line}, nil
}
