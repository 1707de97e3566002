package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/search"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/strictjson"
)

const (
	// bundleLimit is the maximum size of a Bundle.
	bundleLimit = 32 << 20
	// writesPerRequest is how many entries of a Bundle that write count as one
	// request against the rate limit. One that reads counts as one.
	writesPerRequest = 50
	// entriesAtOnce is how many entries of a batch run at the same time.
	entriesAtOnce = 16
	// batchBytes is the size of the resources in the response to a batch after
	// which it reads no more.
	batchBytes = 32 << 20
	// mostIssues is the maximum number of issues about a transaction.
	mostIssues = 100
)

// postBundle performs the requests of a batch or a transaction.
func (a *API) postBundle(x *exchange) (answer, error) {
	if err := x.acceptsFHIR(); err != nil {
		return answer{}, err
	}
	if _, err := x.fhirQuery(); err != nil {
		return answer{}, err
	}
	body, err := x.readBody(bundleLimit, "application/fhir+json", "application/json", "application/json+fhir")
	if err != nil {
		return answer{}, err
	}
	b, issues := fhirwrite.ParseBundle(body)
	if len(issues) > 0 {
		return answer{}, refusedResource(issues[:min(len(issues), mostIssues)])
	}
	if err := x.takeEntries(b); err != nil {
		return answer{}, err
	}
	key, err := x.once(body)
	if err != nil {
		return answer{}, err
	}
	if b.Type == "batch" {
		return x.batch(b)
	}
	for range 5 {
		out, err := x.transaction(b, key)
		if !patients.Outdated(err) {
			return out, err
		}
		x.buf = x.buf[:0]
	}
	return answer{}, fault.Away("Other requests are changing the same resources; try again.", nil)
}

// entryResult is the response to one entry.
type entryResult struct {
	status                   int
	location, etag, modified string
	resource, outcome        []byte
}

func failedEntry(status int, issues []fhir.Issue) entryResult {
	return entryResult{status: status, outcome: operationOutcome(issues)}
}

// appendResponse appends a Bundle of responses.
func appendResponse(b []byte, kind string, results []entryResult) []byte {
	b = append(append(append(b, `{"resourceType":"Bundle","type":"`...), kind...), '"')
	for i, r := range results {
		b = append(b, [2]string{`,"entry":[{`, `},{`}[min(i, 1)]...)
		if r.resource != nil {
			b = append(append(append(b, `"resource":`...), r.resource...), ',')
		}
		b = strictjson.AppendString(append(b, `"response":{"status":`...), strconv.Itoa(r.status)+" "+http.StatusText(r.status))
		for _, part := range [...]struct{ name, text string }{{"location", r.location}, {"etag", r.etag}, {"lastModified", r.modified}} {
			if part.text != "" {
				b = strictjson.AppendString(append(append(append(b, `,"`...), part.name...), `":`...), part.text)
			}
		}
		if r.outcome != nil {
			b = append(append(b, `,"outcome":`...), r.outcome...)
		}
		b = append(b, '}')
	}
	if len(results) > 0 {
		b = append(b, "}]"...)
	}
	return append(b, '}')
}

// transaction performs all requests or none.
func (x *exchange) transaction(b *fhirwrite.Bundle, key *idempotency.Once) (answer, error) {
	items, of, reads, err := x.itemsOf(b, key)
	if err != nil {
		return answer{}, err
	}
	w := fhirwrite.Writer{Org: x.org, Mapping: x.api.FHIR, Now: x.now, Line: x.line}
	plan, err := w.Plan(x.ctx(), items)
	if err != nil {
		return answer{}, err
	}
	if refused := x.problemsOf(b, plan, of); refused != nil {
		done, found, err := x.org.Done(x.ctx(), key)
		if err != nil {
			return answer{}, err
		}
		if !found {
			return answer{}, refused
		}
		return x.replayedBundle(done)
	}
	results := make([]entryResult, len(b.Entry))
	show := func() (idempotency.Outcome, error) {
		for i, at := range of {
			results[at] = x.entryOf(plan.Result(i))
		}
		if len(reads) > 0 {
			return idempotency.Outcome{Status: http.StatusOK}, nil
		}
		return idempotency.Outcome{Status: http.StatusOK, Body: appendResponse(nil, "transaction-response", results)}, nil
	}
	out, err := x.org.WriteAll(x.ctx(), plan.Writes, x.now, key, show)
	if err != nil {
		if problem, ok := plan.Rejected(err); ok && !patients.Outdated(err) {
			return answer{}, x.entryProblem(of[problem.Item], &problem)
		}
		return answer{}, err
	}
	if out.Replayed {
		return x.replayedBundle(out)
	}
	done := x.outcome(out)
	for _, at := range reads {
		results[at] = x.perform(at, &b.Entry[at])
		if results[at].status >= 400 {
			continue // the writes are done
		}
	}
	if len(reads) > 0 {
		done.body = appendResponse(nil, "transaction-response", results)
	}
	if err := x.sawEntries(plan, of); err != nil {
		return answer{}, err
	}
	return x.asFHIR(done), nil
}

// sawEntries records that the response shows what is stored, which may be more
// than was sent.
func (x *exchange) sawEntries(plan *fhirwrite.Plan, of []int) error {
	if !x.returnsResources() {
		return nil
	}
	seen := map[id.Patient]bool{}
	for i := range of {
		r, patient := plan.Result(i), plan.Patient(i)
		if seen[patient] || r.Status == http.StatusCreated {
			continue
		}
		seen[patient] = true
		if err := x.org.Saw(x.sawResources(r.Type, patient, 1)); err != nil {
			return err
		}
	}
	return nil
}

// returnsResources reports whether the caller wants the resources of a
// transaction back, which is not the default.
func (x *exchange) returnsResources() bool {
	return len(x.r.Header["Prefer"]) > 0 && x.preference().returns == "representation"
}

// entryOf returns the response to an entry of a transaction.
func (x *exchange) entryOf(r fhirwrite.Result) entryResult {
	version := strconv.FormatInt(r.Version, 10)
	e := entryResult{status: r.Status, location: x.fhirURL() + "/" + r.Type + "/" + r.ID + "/_history/" + version, etag: weakTag(r.Version),
		modified: r.LastModified.UTC().Format("2006-01-02T15:04:05.000Z")}
	if x.returnsResources() && x.principal.MayFHIR(r.Type, access.FHIRRead) {
		e.resource = r.Resource()
	}
	return e
}

// itemsOf returns the writes of a transaction, with their entries, and the
// entries that read.
func (x *exchange) itemsOf(b *fhirwrite.Bundle, key *idempotency.Once) (items []fhirwrite.Item, of, reads []int, err error) {
	var issues []fhir.Issue
	status := 0
	wrong := func(i, code int, kind, at, text string) {
		if len(issues) < mostIssues {
			issues = append(issues, fhir.Issue{Severity: "error", Code: kind, Expression: fhirwrite.EntryPath(i) + at, Text: text})
		}
		status = max(status, code)
	}
	targets := map[string]bool{}
	for i := range b.Entry {
		e := &b.Entry[i]
		address, query, conditionally := strings.Cut(e.Request.URL, "?")
		resourceType, resourceID, hasID := strings.Cut(address, "/")
		item := fhirwrite.Item{Body: e.Resource, FullURL: e.FullURL, ID: resourceID}
		verb := access.FHIRCreate
		switch e.Request.Method {
		case http.MethodGet, http.MethodHead:
			if key != nil {
				wrong(i, http.StatusBadRequest, "not-supported", ".request.method", "A transaction with an Idempotency-Key cannot read; send the GET alone.")
			}
			reads = append(reads, i)
			continue
		case http.MethodPost:
			if hasID || conditionally {
				wrong(i, http.StatusBadRequest, "invalid", ".request.url", "The address of a POST is the type of the resource.")
			}
			item.ID = ""
			if e.Request.IfNoneExist != "" {
				var ok bool
				if item.Sought, ok = fhirwrite.ParseCondition(strings.TrimPrefix(e.Request.IfNoneExist, "?")); !ok || !conditional(resourceType) {
					wrong(i, http.StatusBadRequest, "not-supported", ".request.ifNoneExist", conditionForm)
				}
			}
		case http.MethodPut:
			verb, item.Update = access.FHIRUpdate, true
			if !hasID {
				verb |= access.FHIRCreate // if there is none
				var ok bool
				if item.Sought, ok = fhirwrite.ParseCondition(query); !ok || !conditional(resourceType) {
					wrong(i, http.StatusBadRequest, "not-supported", ".request.url", "The address of a PUT is TYPE/ID, or TYPE?identifier=SYSTEM|VALUE.")
				}
			}
			if targets[e.Request.URL] {
				wrong(i, http.StatusBadRequest, "invalid", ".request.url", "Another entry has the same address.")
			}
			targets[e.Request.URL] = true
			if e.Request.IfMatch != "" {
				var ok bool
				if item.IfMatch, ok = versionOfTag([]string{e.Request.IfMatch}); !ok {
					wrong(i, http.StatusBadRequest, "invalid", ".request.ifMatch", `ifMatch must be one version, such as W/"1".`)
				}
			}
		default:
			wrong(i, http.StatusMethodNotAllowed, "not-supported", ".request.method", "A transaction can have GET, POST and PUT.")
			continue
		}
		switch {
		case !slices.Contains(search.Types(), resourceType):
			wrong(i, http.StatusNotFound, "not-supported", ".request.url", "This service does not support this resource type, or this interaction with it.")
		case !x.principal.MayFHIR(resourceType, verb):
			wrong(i, http.StatusForbidden, "forbidden", ".request", "The token lacks the scope system/"+resourceType+"."+verb.String()+", or the scope of this service that includes it.")
		case len(e.Resource) == 0:
			wrong(i, http.StatusBadRequest, "required", ".resource", "The resource is required.")
		}
		items, of = append(items, item), append(of, i)
	}
	if len(issues) > 0 {
		return nil, nil, nil, &refusal{status, issues}
	}
	return items, of, reads, nil
}

// problemsOf returns an error if items cannot be written, with all reasons.
func (x *exchange) problemsOf(b *fhirwrite.Bundle, plan *fhirwrite.Plan, of []int) error {
	var first *refusal
	for i := range plan.Problems {
		p := &plan.Problems[i]
		err := x.entryProblem(of[p.Item], p)
		r, ok := errors.AsType[*refusal](err)
		if !ok {
			return err
		}
		if first == nil {
			first = r
		} else if len(first.issues) < mostIssues {
			first.issues = append(first.issues, r.issues...)
		}
	}
	for i, at := range of {
		draft, request := plan.Draft(i), b.Entry[at].Request
		if draft == nil {
			continue
		}
		address, _, _ := strings.Cut(request.URL, "?")
		resourceType, resourceID, _ := strings.Cut(address, "/")
		var wrong *fhir.Issue
		switch {
		case draft.Type != resourceType:
			wrong = &fhir.Issue{Severity: "error", Code: "invalid", Expression: draft.Type, Text: "The type of the resource must be that of the address."}
		case resourceID != "" && draft.ID != resourceID:
			wrong = &fhir.Issue{Severity: "error", Code: "invalid", Expression: draft.Type + ".id", Text: "The id of the resource must be that of the address."}
		}
		if wrong != nil {
			if first == nil {
				first = &refusal{status: http.StatusBadRequest}
			}
			first.issues = append(first.issues, fhirwrite.Within(at, []fhir.Issue{*wrong})...)
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// entryProblem returns the error of an entry that cannot be written.
func (x *exchange) entryProblem(at int, p *fhirwrite.Problem) error {
	err := problemOf(p)
	if r, ok := errors.AsType[*refusal](err); ok {
		return &refusal{r.status, fhirwrite.Within(at, r.issues)}
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code == fault.Unavailable || f.Code == fault.Internal {
		return err
	}
	issues := issuesOf(f)
	for i := range issues {
		issues[i].Expression = fhirwrite.EntryPath(at)
	}
	return &refusal{statusOf[f.Code], issues}
}
