package portal

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/patients"
)

// pageSize is the number of rows on a page.
const pageSize = 25

type patientsPage struct {
	Search string
	Rows   []patientRow
	pager
}

type patientRow struct {
	ID                id.Patient
	Name, DateOfBirth string
	no                int64
}

func (p *Portal) patients(v *visit) error {
	page := patientsPage{Search: strings.TrimSpace(v.r.URL.Query().Get("search"))}
	var err error
	if page.pager, err = v.pager(url.Values{"search": {page.Search}}); err != nil {
		return err
	}
	if utf8.RuneCountInString(page.Search) > 200 || !utf8.ValidString(page.Search) {
		return fault.New(fault.InvalidParameter, "A search must have at most 200 characters.")
	}
	add := func(item patients.PatientItem) {
		page.Rows = append(page.Rows, patientRow{item.ID, string(item.Name), string(item.DateOfBirth), item.No})
	}
	action := audit.PatientList
	if page.Search == "" {
		page.Total, err = v.org.PatientPage(v.r.Context(), page.Page, pageSize, add)
	} else {
		action = audit.PatientSearch
		var numbers []int64
		if numbers, page.Total, err = p.Cohorts.List(v.r.Context(), v.org, cohort.Query{Term: page.Search, Page: page.Page, Limit: pageSize}); err == nil {
			err = v.org.PatientItems(v.r.Context(), numbers, add)
		}
	}
	if err != nil {
		return err
	}
	if err := v.sawPatients(action, page.Rows); err != nil {
		return err
	}
	return v.show("patients", "Patients", page)
}

// sawPatients audits a list in the same form as the API: the numbers of a
// plain list, or the identifiers found by a search.
func (v *visit) sawPatients(action audit.Action, rows []patientRow) error {
	said := map[string]any{"count": len(rows)}
	if action == audit.PatientSearch {
		ids := make([]id.Patient, 0, len(rows))
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		said["patients"] = ids
	} else if len(rows) > 0 {
		said["first_number"], said["last_number"] = rows[0].no, rows[len(rows)-1].no
	}
	details, err := json.Marshal(said)
	if err != nil {
		return err
	}
	line := v.line()
	line.Action, line.Details = action, details
	return v.org.Saw(&line)
}

// pager is the position in a list with a known total.
type pager struct {
	Page, Total int64
	query       url.Values
}

// pager reads the page number from the URL. query holds the parameters to keep
// in it.
func (v *visit) pager(query url.Values) (p pager, err error) {
	p = pager{Page: 1, query: query}
	if text := v.r.URL.Query().Get("page"); text != "" {
		if p.Page, err = strconv.ParseInt(text, 10, 32); err != nil || p.Page < 1 {
			return p, fault.New(fault.InvalidParameter, "There is no such page.")
		}
	}
	return p, nil
}

// Pages returns the number of pages, which is at least one.
func (p pager) Pages() int64 { return max(1, (p.Total+pageSize-1)/pageSize) }

// Previous and Next return URLs, or "".
func (p pager) Previous() string { return p.address(p.Page - 1) }
func (p pager) Next() string     { return p.address(p.Page + 1) }

func (p pager) address(page int64) string {
	if page < 1 || page > p.Pages() {
		return ""
	}
	q := url.Values{"page": {strconv.FormatInt(page, 10)}}
	for name, values := range p.query {
		if len(values) > 0 && values[0] != "" {
			q[name] = values
		}
	}
	return "?" + q.Encode()
}
