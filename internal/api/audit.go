package api

import (
	"net/http"
	"strconv"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/journal"
)

func (a *API) listAudit(x *exchange) (answer, error) {
	q := x.readQuery("after", "limit", "action", "patient_id")
	at := q.cursor("after", auditCursor, 2, 2)
	after := journal.AuditCursor{Pos: journal.Pos(at[0]), Line: int(at[1])}
	limit := int(q.limit())
	var filter journal.AuditFilter
	if action, given := q.text("action"); given {
		filter.Action = audit.Action(action)
		if !filter.Action.Known() {
			q.fields.Add("action", clip(action), "action is unknown; the actions are in the OpenAPI document.")
		}
	}
	if patient, given := q.text("patient_id"); given {
		filter.Resource = patient
		if _, err := id.Parse[id.PatientKind](patient); err != nil {
			q.fields.Add("patient_id", clip(patient), "patient_id must be a patient's identifier.")
		}
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	// Reads served by this node so far must be included in the log.
	if err := x.org.FlushReads(x.ctx()); err != nil {
		return answer{}, err
	}
	lines, next, err := x.org.Audit(x.ctx(), after, limit, filter)
	if err != nil {
		return answer{}, err
	}
	b := append(x.buf, `{"data":[`...)
	for i, line := range lines {
		if line, err = redacted(line, x.principal.Scopes); err != nil {
			return answer{}, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, line...)
	}
	x.buf = appendCursor(b, makeCursor(auditCursor, int64(next.Pos), int64(next.Line)))
	line := x.saw(audit.AuditRead, "")
	line.Details = append(strconv.AppendInt([]byte(`{"count":`), int64(len(lines)), 10), '}')
	return answer{status: http.StatusOK, body: x.buf, line: line}, nil
}

// redacted removes from an audit entry what the scopes do not allow: previous
// values of a patient's fields need patients:read, and the reason for a
// correction needs that or clinical_data:read.
func redacted(line []byte, scopes access.Scopes) (_ []byte, err error) {
	if scopes.Has(access.PatientsRead) {
		return line, nil
	}
	if line, err = audit.Redact(line); err != nil || scopes.Has(access.ClinicalDataRead) {
		return line, err
	}
	return audit.RedactReason(line)
}
