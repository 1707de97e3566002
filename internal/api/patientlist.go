package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// maxSearch is the longest search term, in characters.
const maxSearch = 200

func (a *API) listPatients(x *exchange) (answer, error) {
	q := x.readQuery("page", "limit", "search", "identifier", "date_of_birth", "sort")
	p := q.page()
	wanted := cohort.Query{Page: p.number, Limit: p.limit}
	wanted.Term, _ = q.text("search")
	wanted.Term = strings.TrimSpace(wanted.Term)
	if utf8.RuneCountInString(wanted.Term) > maxSearch {
		q.fields.Add("search", clip(wanted.Term), "search must have at most 200 characters.")
	}
	wanted.Identifier, _ = q.identifier(pain.ParseAnySystem)
	wanted.Born, _ = q.date("date_of_birth")
	wanted.Order = cohort.Order(q.word("sort", string(cohort.OldestFirst), cohort.Orders()...))
	if err := q.err(); err != nil {
		return answer{}, err
	}
	if wanted.Plain() {
		switch wanted.Order {
		case cohort.OldestFirst:
			return x.listPlain(p, x.org.PatientPage, nil)
		case cohort.LatestFirst:
			return x.listPlain(p, x.org.LatestPatients, q.values)
		}
	}
	if err := x.settle(); err != nil {
		return answer{}, err
	}
	return a.findPatients(x, p, wanted, q.values)
}

// identifier returns an identifier and whether one was given.
func (q *query) identifier(parse func(string) (pain.Identifier, string)) (one pain.Identifier, given bool) {
	text, given := q.text("identifier")
	if !given {
		return one, false
	}
	one, problem := parse(text)
	if problem != "" {
		q.fields.Add("identifier", clip(text), "identifier "+problem)
	}
	return one, true
}

// listPlain lists all patients in order of creation, or the reverse.
func (x *exchange) listPlain(p page, read func(context.Context, int64, int64, func(patients.PatientItem)) (int64, error), values url.Values) (answer, error) {
	items := itemList{buf: append(x.buf, `{"data":[`...)}
	total, err := read(x.lookupCtx(), p.number, p.limit, items.add)
	if err != nil {
		return answer{}, err
	}
	line := x.saw(audit.PatientList, "")
	line.Details = items.span()
	return items.answer(x, p, total, values, line), nil
}

// findPatients lists patients by other conditions, or by name.
func (a *API) findPatients(x *exchange, p page, wanted cohort.Query, values url.Values) (answer, error) {
	numbers, total, err := a.Cohorts.List(x.ctx(), x.org, wanted)
	if err != nil {
		return answer{}, err
	}
	items := itemList{buf: append(x.buf, `{"data":[`...), name: true}
	if err := x.org.PatientItems(x.ctx(), numbers, items.add); err != nil {
		return answer{}, err
	}
	action := audit.PatientSearch
	if wanted.Plain() {
		action = audit.PatientList
	}
	line := x.saw(action, "")
	line.Details = items.named()
	return items.answer(x, p, total, values, line), nil
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
		l.first, l.last = min(l.first, item.No), max(l.last, item.No)
	} else {
		l.first, l.last = item.No, item.No
	}
	l.count++
	l.buf = pain.AppendListItem(l.buf, item.ID, item.Name, item.DateOfBirth, item.CreatedAt)
	if l.name {
		if len(l.shown) > 0 {
			l.shown = append(l.shown, ',')
		}
		l.shown = append(item.ID.Append(append(l.shown, '"')), '"')
	}
}

// span returns the lowest and highest number of a list in order of creation.
// They identify all of its patients.
func (l *itemList) span() json.RawMessage {
	b := append(make([]byte, 0, 64), `{"count":`...)
	b = strconv.AppendInt(b, int64(l.count), 10)
	b = append(b, `,"first_number":`...)
	b = strconv.AppendInt(b, l.first, 10)
	b = append(b, `,"last_number":`...)
	b = strconv.AppendInt(b, l.last, 10)
	return append(b, '}')
}

// named returns the patients of a list in another order, or found by a search.
// It omits the conditions, which may be a name.
func (l *itemList) named() json.RawMessage {
	b := append(make([]byte, 0, len(l.shown)+32), `{"count":`...)
	b = strconv.AppendInt(b, int64(l.count), 10)
	b = append(b, `,"patients":[`...)
	b = append(b, l.shown...)
	return append(b, "]}"...)
}

// answer returns the list. values is the query, which the links repeat.
func (l *itemList) answer(x *exchange, p page, total int64, values url.Values, line *audit.Entry) answer {
	x.buf = p.appendPagination(l.buf, total)
	delete(values, "page")
	delete(values, "limit")
	return answer{status: http.StatusOK, body: x.buf, link: p.link("/v1/patients", total, values), line: line}
}
