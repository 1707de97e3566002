package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

// A Group is a cohort as a FHIR resource.

func (x *exchange) admitGroup(verbs access.FHIRVerbs) error {
	if err := x.mayFHIR("Group", verbs); err != nil {
		return err
	}
	return x.acceptsFHIR()
}

// createGroup stores a Group as a cohort, under the rules of /v1/cohorts.
func (a *API) createGroup(x *exchange) (answer, error) {
	if err := x.admitGroup(access.FHIRCreate); err != nil {
		return answer{}, err
	}
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	body, err := x.readBody(bodyLimit, "application/fhir+json", "application/json")
	if err != nil {
		return answer{}, err
	}
	draft, issues := a.FHIR.ReadGroup(body)
	if draft == nil {
		return answer{}, refusedResource(issues)
	}
	object, err := strictjson.Parse(draft.Body)
	if err != nil {
		return answer{}, err
	}
	made, err := readCohort(object, x.now)
	if err != nil {
		return answer{}, refusedGroup(draft, err)
	}
	key, err := x.once(body)
	if err != nil {
		return answer{}, err
	}
	var shown fhir.Resource
	out, err := x.keepCohort(&made, key, func(b []byte) ([]byte, string) {
		if shown, err = a.FHIR.StoredGroup(export.GroupOf(&made), ""); err == nil {
			if kept := fhir.Keep(body, shown.JSON); kept != nil {
				made.Kept = string(kept)
				shown.JSON = fhir.Restore(shown.JSON, kept)
			}
		}
		return append(b, shown.JSON...), fhirBase + "/Group/" + shown.ID
	})
	if err != nil {
		return answer{}, refusedGroup(draft, err)
	}
	return x.asFHIR(out), nil
}

// refusedGroup returns an error of /v1/cohorts with the elements of the Group.
func refusedGroup(draft *fhir.GroupDraft, err error) error {
	f, ok := err.(*fault.Error) //nolint:errorlint // faults are not wrapped here
	if !ok || f.Code != fault.InvalidParameter {
		return err
	}
	fields, several := f.Details["errors"].([]fault.Field)
	if !several {
		parameter, _ := f.Details["parameter"].(string)
		fields = []fault.Field{{Parameter: parameter, Message: f.Message}}
	}
	var issues []fhir.Issue
	for _, one := range fields {
		text := strings.TrimSpace(strings.TrimPrefix(one.Message, one.Parameter))
		issues = append(issues, fhir.Issue{Severity: "error", Code: fhir.BusinessRule, Expression: draft.Path(one.Parameter), Text: text})
	}
	return &refusal{http.StatusUnprocessableEntity, issues}
}

func (a *API) readGroup(x *exchange) (answer, error) {
	if err := x.admitGroup(access.FHIRRead); err != nil {
		return answer{}, err
	}
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	groupID, err := x.groupID()
	if err != nil {
		return answer{}, err
	}
	found, err := x.org.Cohort(x.ctx(), groupID)
	if err != nil {
		return answer{}, err
	}
	r, err := a.FHIR.StoredGroup(export.GroupOf(&found), found.Kept)
	if err != nil {
		return answer{}, err
	}
	return x.asFHIR(answer{status: http.StatusOK, body: r.JSON, line: x.saw(audit.CohortRead, found.ID.String())}), nil
}

// groupsOnPage is how many Groups a page of a search has.
const groupsOnPage = 50

// searchGroups lists the Groups, a page at a time, without their members.
func (a *API) searchGroups(x *exchange) (answer, error) {
	if err := x.admitGroup(access.FHIRSearch); err != nil {
		return answer{}, err
	}
	values, err := x.fhirQuery("page")
	if err != nil {
		return answer{}, err
	}
	page := int64(1)
	if values.Has("page") {
		if page, err = strconv.ParseInt(values.Get("page"), 10, 32); err != nil || page < 1 {
			return answer{}, refuse(http.StatusBadRequest, "value", "http.page", "Must be a number from 1.")
		}
	}
	list, total, err := x.org.CohortPage(x.ctx(), page, groupsOnPage)
	if err != nil {
		return answer{}, err
	}
	body, err := x.groupBundle(list, total, page)
	if err != nil {
		return answer{}, err
	}
	line := x.saw(audit.CohortRead, "")
	line.Details = countOf(len(list))
	return x.asFHIR(answer{status: http.StatusOK, body: body, line: line}), nil
}

// groupBundle returns the page of a search.
func (x *exchange) groupBundle(list []patients.Cohort, total, page int64) ([]byte, error) {
	type link struct {
		Relation string `json:"relation"`
		URL      string `json:"url"`
	}
	type entry struct {
		FullURL  string            `json:"fullUrl"`
		Resource json.RawMessage   `json:"resource"`
		Search   map[string]string `json:"search"`
	}
	bundle := struct {
		ResourceType string  `json:"resourceType"`
		Type         string  `json:"type"`
		Total        int64   `json:"total"`
		Link         []link  `json:"link"`
		Entry        []entry `json:"entry,omitempty"`
	}{ResourceType: "Bundle", Type: "searchset", Total: total}
	at := x.fhirURL() + "/Group"
	bundle.Link = append(bundle.Link, link{"self", at + "?page=" + strconv.FormatInt(page, 10)})
	if page*groupsOnPage < total {
		bundle.Link = append(bundle.Link, link{"next", at + "?page=" + strconv.FormatInt(page+1, 10)})
	}
	for i := range list {
		group := export.GroupOf(&list[i])
		group.Summary, group.Members = true, int(list[i].Members)
		r, err := x.api.FHIR.StoredGroup(group, "")
		if err != nil {
			return nil, err
		}
		bundle.Entry = append(bundle.Entry, entry{at + "/" + r.ID, r.JSON, map[string]string{"mode": "match"}})
	}
	return json.Marshal(bundle)
}
