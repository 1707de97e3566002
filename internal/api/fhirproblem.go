package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
)

// refusal is an error of a FHIR request that is not a fault: it has its own
// status, and issues that name the elements of a resource.
type refusal struct {
	status int
	issues []fhir.Issue
}

// Error returns the first text.
func (r *refusal) Error() string { return r.issues[0].Text }

// refuse returns a refusal with one issue.
func refuse(status int, code, expression, text string) error {
	return &refusal{status, []fhir.Issue{{Severity: "error", Code: code, Expression: expression, Text: text}}}
}

// refusedResource returns the refusal of a resource. What is not a FHIR resource
// is a bad request, and what this service does not take cannot be processed.
func refusedResource(issues []fhir.Issue) error {
	status := http.StatusUnprocessableEntity
	for _, one := range issues {
		switch one.Code {
		case fhir.Structure, fhir.Invalid:
			status = http.StatusBadRequest
		case fhir.TooLong:
			return &refusal{http.StatusRequestEntityTooLarge, issues}
		}
	}
	return &refusal{status, issues}
}

// issueCodes are the codes of issues for faults.
var issueCodes = map[fault.Code]string{
	fault.InvalidParameter:     "invalid",
	fault.InvalidBody:          "structure",
	fault.Unauthorized:         "login",
	fault.Forbidden:            "forbidden",
	fault.NotFound:             "not-found",
	fault.MethodNotAllowed:     "not-supported",
	fault.PreconditionFailed:   "conflict",
	fault.PayloadTooLarge:      "too-long",
	fault.UnsupportedMediaType: "not-supported",
	fault.Conflict:             "conflict",
	fault.PatientMerged:        "deleted",
	fault.IdempotencyRunning:   "lock-error",
	fault.IdempotencyKeyReused: "business-rule",
	fault.RateLimitExceeded:    "throttled",
	fault.Unavailable:          "transient",
	fault.ExportNotReady:       "conflict",
	fault.ExportFailed:         "exception",
	fault.ExportExpired:        "deleted",
	fault.RangeNotSatisfiable:  "invalid",
}

// issuesOf returns a fault as issues. Values are not repeated.
func issuesOf(f *fault.Error) []fhir.Issue {
	code, known := issueCodes[f.Code]
	if !known {
		code = "exception"
	}
	if reason := f.Details["reason"]; f.Code == fault.Unauthorized && reason == "expired_token" {
		code = "expired"
	}
	if several, ok := f.Details["errors"].([]fault.Field); ok {
		issues := make([]fhir.Issue, len(several))
		for i, one := range several {
			issues[i] = fhir.Issue{Severity: "error", Code: code, Expression: parameterPath(one.Parameter), Text: one.Message}
		}
		return issues
	}
	issue := fhir.Issue{Severity: "error", Code: code, Text: f.Message}
	if parameter, ok := f.Details["parameter"].(string); ok {
		issue.Expression = parameterPath(parameter)
	}
	switch f.Code {
	case fault.UnsupportedMediaType:
		issue.Expression = parameterPath("Content-Type")
	case fault.PatientMerged:
		if into, ok := f.Details["into"].(string); ok {
			issue.Text = "This patient was merged into another one. Use Patient/" + strings.TrimPrefix(into, "pat_") + "."
		}
	case fault.Internal:
		issue.Text += " The request ID is in the header X-Request-Id."
	}
	return []fhir.Issue{issue}
}

// parameterPath names a parameter of a request in the form of FHIR.
func parameterPath(name string) string {
	if name == "" || strings.ContainsAny(name, " \t") {
		return ""
	}
	return "http." + name
}

// outcome returns an OperationOutcome.
func operationOutcome(issues []fhir.Issue) []byte {
	type text struct {
		Text string `json:"text"`
	}
	type issue struct {
		Severity   string   `json:"severity"`
		Code       string   `json:"code"`
		Details    text     `json:"details"`
		Expression []string `json:"expression,omitempty"`
	}
	doc := struct {
		ResourceType string  `json:"resourceType"`
		Issue        []issue `json:"issue"`
	}{ResourceType: "OperationOutcome"}
	for _, one := range issues {
		i := issue{Severity: one.Severity, Code: one.Code, Details: text{one.Text}}
		if one.Expression != "" {
			i.Expression = []string{one.Expression}
		}
		doc.Issue = append(doc.Issue, i)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err) // strings always marshal
	}
	return b
}

// sentType returns the type of the resource that a request sends, or "".
func (x *exchange) sentType() string {
	switch path := strings.TrimPrefix(x.r.URL.Path, fhirBase); {
	case path == "":
		return "Bundle"
	case path == "/Group":
		return "Group"
	case strings.HasSuffix(path, "/$export"):
		return "Parameters"
	}
	return x.r.PathValue("type")
}

// failFHIR responds with an OperationOutcome. f is the error as a fault.
func (x *exchange) failFHIR(err error, f *fault.Error, status int) {
	issues := []fhir.Issue(nil)
	if r, ok := errors.AsType[*refusal](err); ok {
		status, issues = r.status, r.issues
	} else {
		issues = issuesOf(f)
	}
	for i := range issues {
		if one := &issues[i]; one.Expression == "" && (one.Code == fhir.Structure || one.Code == fhir.TooLong) {
			one.Expression = x.sentType() // the body as a whole
		}
	}
	x.send(x.asFHIR(answer{status: status, body: operationOutcome(issues)}))
}
