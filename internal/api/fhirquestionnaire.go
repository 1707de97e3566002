package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/fault"
)

// questionnaire is the type of the forms that the service scores. They are the
// same for all organisations and have no patient data, so that reading them
// needs only a token and leaves no audit entry.
const questionnaire = "Questionnaire"

func (x *exchange) readQuestionnaire() (answer, error) {
	for _, q := range x.api.mapping.Questionnaires() {
		if q.ID == x.r.PathValue("id") {
			return x.asFHIR(answer{status: http.StatusOK, body: q.JSON}), nil
		}
	}
	return answer{}, noSuchResource(questionnaire, x.r.PathValue("id"))
}

// searchQuestionnaires lists the forms, or those with an id or a URL.
func (x *exchange) searchQuestionnaires() (answer, error) {
	values, err := x.fhirQuery("_id", "url", "_count")
	if err != nil {
		return answer{}, err
	}
	if x.r.Method == http.MethodPost {
		body, err := x.readBody(maxFHIRQuery, "application/x-www-form-urlencoded")
		if err != nil {
			return answer{}, err
		}
		more, err := url.ParseQuery(string(body))
		if err != nil {
			return answer{}, fault.Parameter("body", "", "The parameters are malformed; percent-encode special characters.")
		}
		for name, list := range more {
			values[name] = append(values[name], list...)
		}
	}
	has := func(name, value string) bool {
		for _, list := range values[name] {
			if !slices.Contains(strings.Split(list, ","), value) {
				return false
			}
		}
		return true
	}
	base := x.fhirURL() + "/" + questionnaire
	b := bundle{kind: "searchset", now: x.now}
	b.link("self", base)
	for _, q := range x.api.mapping.Questionnaires() {
		if has("_id", q.ID) && has("url", x.api.mapping.QuestionnaireURL(q.ID)) {
			b.entry(base+"/"+q.ID, q.JSON, `"search":{"mode":"match"}`)
		}
	}
	b.total = b.count
	return x.asFHIR(answer{status: http.StatusOK, body: b.append(nil)}), nil
}

func questionnaireCapabilities() capabilityResource {
	return capabilityResource{
		Type: questionnaire, Documentation: "The instruments that the service scores, without their wording.",
		Interaction: []capabilityInteraction{{Code: "read"}, {Code: "search-type"}},
		SearchParam: []capabilityParameter{{Name: "_id", Type: "token"}, {Name: "url", Type: "uri"}},
	}
}
