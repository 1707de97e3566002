package portal

import (
	"errors"
	"net/http"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// removalPage offers to merge a patient into another one, or to erase it.
type removalPage struct {
	Patient             pain.Patient
	Into, Reason        string
	MergeWrong, NoErase []string
	MayErase            bool
}

func (p *Portal) removal(v *visit) error { return v.showRemoval(removalPage{}) }

func (v *visit) showRemoval(page removalPage) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	if page.Patient, err = v.org.Patient(v.r.Context(), patientID); err != nil {
		return err
	}
	page.MayErase = v.has(access.PatientsErase)
	if err := v.saw(audit.PatientRead, patientID.String()); err != nil {
		return err
	}
	return v.show("patient-remove", "Merge or erase a patient", page)
}

// notConfirmed is shown if the box beside a button is not ticked.
const notConfirmed = "Confirm that you know that this cannot be undone."

func (p *Portal) mergePatient(v *visit) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	page := removalPage{Into: strings.TrimSpace(v.form("into"))}
	into, err := id.Parse[id.PatientKind](page.Into)
	switch {
	case err != nil:
		page.MergeWrong = []string{"Enter the identifier of the other patient; it starts with pat_."}
	case into == patientID:
		page.MergeWrong = []string{"A patient cannot be merged into itself."}
	case v.form("sure") != "yes":
		page.MergeWrong = []string{notConfirmed}
	default:
		_, err = v.org.MergePatient(v.r.Context(), patientID, into, v.line(), nil, func(*pain.Patient) idempotency.Outcome { return idempotency.Outcome{} })
		f, refused := errors.AsType[*fault.Error](err)
		switch {
		case refused && f.Code == fault.Conflict:
			page.MergeWrong = []string{f.Message}
		case refused && f.Details["id"] == into.String(): // not the patient of this page
			page.MergeWrong = []string{"The other patient: " + f.Message}
		case err != nil:
			return err
		default:
			v.redirect("/portal/patients/" + into.String())
			return nil
		}
	}
	v.status = http.StatusUnprocessableEntity
	return v.showRemoval(page)
}

func (p *Portal) erasePatient(v *visit) error {
	patientID, err := v.patientID()
	if err != nil {
		return err
	}
	page := removalPage{Reason: strings.TrimSpace(v.form("reason"))}
	if problem := pain.ReasonProblem(page.Reason); problem != "" {
		page.NoErase = []string{"The reason " + problem}
	} else if v.form("sure") != "yes" {
		page.NoErase = []string{notConfirmed}
	} else {
		if err := v.org.ErasePatient(v.r.Context(), patientID, page.Reason, v.line()); err != nil {
			return err
		}
		v.redirect("/portal/patients")
		return nil
	}
	v.status = http.StatusUnprocessableEntity
	return v.showRemoval(page)
}
