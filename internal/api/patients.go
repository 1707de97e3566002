package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

func (a *API) createPatient(x *exchange) (answer, error) {
	object, key, err := x.readPost(bodyLimit)
	if err != nil {
		return answer{}, err
	}
	p, err := pain.NewPatient(object, id.New[id.PatientKind](x.now), x.now)
	if err != nil {
		return answer{}, err
	}
	name := p.ID.String()
	change := journal.Change{Audit: x.line(audit.PatientCreate, name), Event: event.Patient(event.PatientCreated, x.now, p.ID), Subject: p.ID}
	x.buf = pain.AppendDetail(x.buf, &p)
	out, err := x.org.CreatePatient(x.ctx(), &p, change, key, idempotency.Outcome{
		Status: http.StatusCreated, Location: "/v1/patients/" + name, ETag: versionTag(p.Version), Body: x.buf,
	})
	if err != nil {
		return answer{}, err
	}
	done := x.outcome(out)
	if out.Replayed { // the response shows the patient again
		done.line = x.saw(audit.PatientRead, strings.TrimPrefix(out.Location, "/v1/patients/"))
	}
	return done, nil
}

func (a *API) getPatient(x *exchange) (answer, error) {
	if err := x.noQuery(); err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	var version int64
	err = x.org.ShowPatient(x.ctx(), patientID, func(p patients.PatientRow) {
		version = p.Version
		x.buf = pain.AppendRow(x.buf, &p)
	})
	if err != nil {
		return answer{}, err
	}
	tag := versionTag(version)
	if notModified(x.r.Header, tag) {
		return answer{status: http.StatusNotModified, etag: tag}, nil
	}
	return answer{status: http.StatusOK, etag: tag, body: x.buf, line: x.saw(audit.PatientRead, x.r.PathValue("id"))}, nil
}

func (a *API) patchPatient(x *exchange) (answer, error) {
	if err := x.noQuery(); err != nil {
		return answer{}, err
	}
	object, _, err := x.readJSON(bodyLimit, "application/merge-patch+json", "application/json")
	if err != nil {
		return answer{}, err
	}
	// A body that is invalid for any patient is rejected before the patient is
	// looked up.
	if _, _, err := pain.PatchPatient(pain.Patient{}, object, x.now); err != nil {
		return answer{}, err
	}
	patientID, err := x.patientID()
	if err != nil {
		return answer{}, err
	}
	p, err := x.org.UpdatePatient(x.ctx(), patientID, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
		if err := guard(x.r.Header, versionTag(old.Version)); err != nil {
			return old, nil, err
		}
		updated, changes, err := pain.PatchPatient(old, object, x.now)
		if err != nil || len(changes) == 0 {
			return updated, nil, err
		}
		line := x.line(audit.PatientUpdate, patientID.String())
		line.Details = historyOf(changes)
		return updated, &journal.Change{Audit: line, Event: event.Patient(event.PatientUpdated, x.now, patientID), Subject: patientID}, nil
	})
	if err != nil {
		return answer{}, err
	}
	x.buf = pain.AppendDetail(x.buf, &p)
	out := answer{status: http.StatusOK, etag: versionTag(p.Version), body: x.buf}
	out.line = x.saw(audit.PatientRead, patientID.String())
	return out, nil
}

// historyOf returns the replaced values, for the audit entry of a change.
func historyOf(changes []pain.Change) json.RawMessage {
	kept := make([]audit.Change, len(changes))
	for i, c := range changes {
		kept[i] = audit.Change(c)
	}
	return audit.Changes(kept)
}

// maxSearch is the longest search term, in characters.
const maxSearch = 200

func (a *API) listPatients(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "search")
	p := q.page()
	term, _ := q.text("search")
	term = strings.TrimSpace(term)
	if utf8.RuneCountInString(term) > maxSearch {
		q.fields.Add("search", clip(term), "search must have at most 200 characters.")
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	if term != "" {
		return a.searchPatients(x, p, term)
	}
	items := itemList{buf: append(x.buf, `{"data":[`...)}
	total, err := x.org.PatientPage(x.ctx(), p.number, p.limit, items.add)
	if err != nil {
		return answer{}, err
	}
	line := x.saw(audit.PatientList, "")
	line.Details = items.span()
	return items.answer(x, p, total, nil, line), nil
}

func (a *API) searchPatients(x *exchange, p page, term string) (answer, error) {
	numbers, total, err := a.Cohorts.Search(x.ctx(), x.org, term, p.number, p.limit)
	if err != nil {
		return answer{}, err
	}
	items := itemList{buf: append(x.buf, `{"data":[`...), name: true}
	if err := x.org.PatientItems(x.ctx(), numbers, items.add); err != nil {
		return answer{}, err
	}
	line := x.saw(audit.PatientSearch, "")
	line.Details = items.named()
	return items.answer(x, p, total, url.Values{"search": {term}}, line), nil
}

// itemList builds a list of patients and records which patients it contains.
type itemList struct {
	buf         []byte
	count       int
	first, last int64
	name        bool // keep the identifiers
	shown       []byte
}

func (l *itemList) add(item patients.PatientItem) {
	if l.count > 0 {
		l.buf = append(l.buf, ',')
	} else {
		l.first = item.No
	}
	l.count++
	l.last = item.No
	l.buf = pain.AppendListItem(l.buf, item.ID, item.Name, item.DateOfBirth, item.CreatedAt)
	if l.name {
		if len(l.shown) > 0 {
			l.shown = append(l.shown, ',')
		}
		l.shown = append(item.ID.Append(append(l.shown, '"')), '"')
	}
}

// span returns the first and last patient of a list without a search term.
// They identify all of them, because patients are numbered in creation order.
func (l *itemList) span() json.RawMessage {
	b := append(make([]byte, 0, 64), `{"count":`...)
	b = strconv.AppendInt(b, int64(l.count), 10)
	b = append(b, `,"first_number":`...)
	b = strconv.AppendInt(b, l.first, 10)
	b = append(b, `,"last_number":`...)
	b = strconv.AppendInt(b, l.last, 10)
	return append(b, '}')
}

// named returns the patients found by a search. It omits the search term,
// which may be a name.
func (l *itemList) named() json.RawMessage {
	b := append(make([]byte, 0, len(l.shown)+32), `{"count":`...)
	b = strconv.AppendInt(b, int64(l.count), 10)
	b = append(b, `,"patients":[`...)
	b = append(b, l.shown...)
	return append(b, "]}"...)
}

func (l *itemList) answer(x *exchange, p page, total int64, extra url.Values, line *audit.Entry) answer {
	x.buf = p.appendPagination(l.buf, total)
	return answer{status: http.StatusOK, body: x.buf, link: p.link("/v1/patients", total, extra), line: line}
}
