package api

import (
	"net/http"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// mergePatient moves everything of a patient to another one. The response is
// the patient that has the data now.
func (a *API) mergePatient(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	into, err := pain.ReadMerge(object, x.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	from, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	out, err := x.org.MergePatient(x.ctx(), from, into, x.line(audit.PatientMerge, ""), key, func(p *pain.Patient) idempotency.Outcome {
		return idempotency.Outcome{Status: http.StatusOK, ETag: versionTag(p.Version), Body: pain.AppendDetail(nil, p)}
	})
	if err != nil {
		return answer{}, err
	}
	done := x.outcome(out)
	if out.Replayed { // the response shows the patient again
		done.line = x.saw(audit.PatientRead, into.String())
	}
	return done, nil
}
