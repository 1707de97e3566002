package api

import (
	"net/http"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
)

// createFHIR creates a resource, unless one with the identifier in
// If-None-Exist exists.
func (a *API) createFHIR(x *exchange) (answer, error) {
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	item := fhirwrite.Item{}
	if header, given := x.r.Header["If-None-Exist"]; given {
		condition, ok := fhirwrite.ParseCondition(strings.TrimPrefix(strings.Join(header, "&"), "?"))
		if !ok || !conditional(x.resourceType()) {
			return answer{}, refuse(http.StatusBadRequest, "not-supported", "http.If-None-Exist", conditionForm)
		}
		item.Sought = condition
	}
	return x.writeFHIR(item)
}

const conditionForm = "A condition must be one identifier of a Patient or a record, in the form identifier=SYSTEM|VALUE."

// putFHIR updates the resource with the identifier of the query, or creates it.
func (a *API) putFHIR(x *exchange) (answer, error) {
	values, err := x.fhirQuery("identifier")
	if err != nil {
		return answer{}, err
	}
	for _, name := range ofFormat {
		values.Del(name)
	}
	condition, ok := fhirwrite.ParseCondition(values.Encode())
	if !ok || !conditional(x.resourceType()) {
		return answer{}, refuse(http.StatusBadRequest, "not-supported", "http.identifier", conditionForm)
	}
	return x.writeFHIR(fhirwrite.Item{Update: true, Sought: condition})
}

// updateFHIR updates the resource with the id of the path.
func (a *API) updateFHIR(x *exchange) (answer, error) {
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	return x.writeFHIR(fhirwrite.Item{Update: true, ID: x.r.PathValue("id")})
}

// writeFHIR writes one resource, as the same write in /v1 does.
func (x *exchange) writeFHIR(item fhirwrite.Item) (answer, error) {
	body, err := x.readBody(bodyLimit, "application/fhir+json", "application/json", "application/json+fhir")
	if err != nil {
		return answer{}, err
	}
	item.Body = body
	if header, given := x.r.Header["If-Match"]; given {
		version, ok := versionOfTag(header)
		if !ok || !item.Update {
			return answer{}, refuse(http.StatusBadRequest, "invalid", "http.If-Match", `If-Match must be one version of the resource to update, such as W/"1".`)
		}
		item.IfMatch = version
	}
	var key *idempotency.Once
	if x.r.Method == http.MethodPost {
		if key, err = x.once(slices.Concat(body, []byte("\n"+item.Sought.System+"|"+item.Sought.Value))); err != nil {
			return answer{}, err
		}
	}
	w := fhirwrite.Writer{Org: x.org, Mapping: x.api.FHIR, Now: x.now, Line: x.line}
	for range 5 {
		out, err := x.tryWriteFHIR(&w, item, key)
		if !patients.Outdated(err) {
			return out, err
		}
	}
	return answer{}, fault.Away("Other requests are changing the same resource; try again.", nil)
}

// versionOfTag returns the version in a header with one entity tag.
func versionOfTag(header []string) (version string, ok bool) {
	if len(header) != 1 {
		return "", false
	}
	text := strings.TrimPrefix(strings.TrimSpace(header[0]), "W/")
	version = strings.Trim(text, `"`)
	return version, len(text) == len(version)+2 && version != "" && !strings.ContainsAny(version, `",`)
}

// tryWriteFHIR makes the write from what is stored now. The error says if that
// has changed before the commit.
func (x *exchange) tryWriteFHIR(w *fhirwrite.Writer, item fhirwrite.Item, key *idempotency.Once) (answer, error) {
	plan, err := w.Plan(x.ctx(), []fhirwrite.Item{item})
	if err != nil {
		return answer{}, err
	}
	if refused := x.refusalOf(plan, &item); refused != nil {
		done, found, err := x.org.Done(x.ctx(), key)
		if err != nil {
			return answer{}, err
		}
		if !found {
			return answer{}, refused
		}
		return x.writtenFHIR(done, plan)
	}
	outcome, err := x.org.WriteAll(x.ctx(), plan.Writes, x.now, key, func() (idempotency.Outcome, error) { return x.written(plan), nil })
	if err != nil {
		if problem, ok := plan.Rejected(err); ok && !patients.Outdated(err) {
			return answer{}, problemOf(&problem)
		}
		return answer{}, err
	}
	return x.writtenFHIR(outcome, plan)
}

// refusalOf returns the error of a resource that cannot be written, or nil.
func (x *exchange) refusalOf(plan *fhirwrite.Plan, item *fhirwrite.Item) error {
	draft := plan.Draft(0)
	switch {
	case draft != nil && draft.Type != x.resourceType():
		return refuse(http.StatusBadRequest, "invalid", draft.Type, "The type of the resource must be that in the path.")
	case draft != nil && item.ID != "" && draft.ID != item.ID:
		return refuse(http.StatusBadRequest, "invalid", draft.Type+".id", "The id of the resource must be that in the path.")
	case len(plan.Problems) > 0:
		return problemOf(&plan.Problems[0])
	}
	return nil
}

// problemOf returns the error of a resource that cannot be written.
func problemOf(p *fhirwrite.Problem) error {
	if p.Err != nil {
		return p.Err
	}
	return refusedResource(p.Issues)
}

// written returns the outcome of a write: the resource, and where it is.
func (x *exchange) written(plan *fhirwrite.Plan) idempotency.Outcome {
	r := plan.Result(0)
	path := r.Type + "/" + r.ID
	out := idempotency.Outcome{Status: r.Status, ETag: weakTag(r.Version), Body: r.Resource()}
	out.Location = x.fhirURL() + "/" + path + "/_history/" + strings.Trim(weakTag(r.Version), `W/"`)
	if x.r.Method == http.MethodPut && r.Status == http.StatusOK {
		out.Location = "" // it stays where it is
	}
	x.modified(r.LastModified)
	return out
}

// writtenFHIR returns the response to a write, as the caller prefers it.
func (x *exchange) writtenFHIR(out idempotency.Outcome, plan *fhirwrite.Plan) (answer, error) {
	done := x.outcome(out)
	patient := plan.Patient(0)
	if out.Replayed { // the plan may be for another patient, or have failed
		var err error
		if _, patient, err = x.patientOf(out.Body); err != nil {
			return answer{}, err
		}
	}
	if out.Replayed || out.Status == http.StatusOK { // the response may show more than was sent
		done.line = x.sawResources(x.resourceType(), patient, 1)
	}
	switch x.preference().returns {
	case "minimal":
		done.body = nil
	case "OperationOutcome":
		done.body = operationOutcome([]fhir.Issue{{Severity: "information", Code: "informational", Text: "The resource was stored."}})
	default:
		if !x.principal.MayFHIR(x.resourceType(), access.FHIRRead) && out.Status == http.StatusOK {
			done.body = nil // it may have more than was sent
		}
	}
	return x.asFHIR(done), nil
}
