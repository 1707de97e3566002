package api

import (
	"net/http"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
)

// erasePatient erases a patient and everything about it.
func (a *API) erasePatient(x *exchange) (answer, error) {
	if err := x.noQuery(); err != nil {
		return answer{}, err
	}
	object, _, err := x.readJSON(bodyLimit, "application/json")
	if err != nil {
		return answer{}, err
	}
	reason, err := pain.ReadErasure(object)
	if err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	if err := x.org.ErasePatient(x.ctx(), patientID, reason, x.line(audit.PatientErase, "")); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
