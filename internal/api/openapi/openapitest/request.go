package openapitest

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

const formType = "application/x-www-form-urlencoded"

// fhirID is the id of the FHIR resource in the examples.
const fhirID = "01kf0k8y20a14c3emmv2g2jemj"

// Live identifies what exists on the server under test, to replace the
// identifiers and credentials in the document.
type Live struct {
	PatientID    string
	RecordID     string // of that patient
	OtherID      string // of another patient, for a merge; "" for an unknown one
	WebhookID    string
	DeliveryID   string // of that webhook
	ReportID     string
	ExportID     string // of an export as Parquet
	AliasID      string
	CohortID     string
	BulkID       string // of a bulk export
	AccessToken  string
	ClientID     string
	ClientSecret string
	Assertion    string // of that client, for one request
}

// Request returns the example as a request to the server at base, with the
// identifiers and credentials in live.
func (e Example) Request(ctx context.Context, base string, live Live) (*http.Request, error) {
	body, inForm := e.Body, false
	if e.ContentType == formType {
		form, err := url.ParseQuery(string(e.Body))
		if err != nil {
			return nil, err
		}
		if inForm = form.Has("client_id"); inForm {
			form.Set("client_id", live.ClientID)
			form.Set("client_secret", live.ClientSecret)
			body = []byte(form.Encode())
		}
		if form.Has("client_assertion") {
			inForm = true
			form.Set("client_assertion", live.Assertion)
			body = []byte(form.Encode())
		}
	}
	if strings.HasSuffix(e.Path, "/merge") && live.OtherID != "" {
		body = []byte(`{"into":"` + live.OtherID + `"}`)
	}
	id, name := live.PatientID, "patients.parquet"
	switch {
	case strings.HasPrefix(e.Path, "/fhir/bulk/"):
		id, name = live.BulkID, "Patient.1.ndjson"
	case strings.HasPrefix(e.Path, "/fhir/R4/Group/"):
		id = strings.TrimPrefix(live.CohortID, "coh_")
	case strings.HasPrefix(e.Path, "/fhir/"):
		id = strings.TrimPrefix(id, "pat_")
		body = bytes.Replace(body, []byte(fhirID), []byte(id), 1)
	case strings.HasPrefix(e.Path, "/v1/webhooks/"):
		id = live.WebhookID
	case strings.HasPrefix(e.Path, "/v1/reports/"):
		id = live.ReportID
	case strings.HasPrefix(e.Path, "/v1/exports/"):
		id = live.ExportID
	case strings.HasPrefix(e.Path, "/v1/reference/medications/aliases/"):
		id = live.AliasID
	case strings.HasPrefix(e.Path, "/v1/cohorts/"):
		id = live.CohortID
	}
	address := base + strings.NewReplacer("{id}", id, "{record_id}", live.RecordID, "{delivery_id}", live.DeliveryID, "{name}", name, "{type}", "Patient", "{version}", "1").Replace(e.Path)
	if len(e.Query) > 0 {
		address += "?" + e.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, e.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, e.Header)
	if strings.HasSuffix(e.Path, "/$export") { // it requires the header
		request.Header.Set("Prefer", "respond-async")
	}
	if e.ContentType != "" {
		request.Header.Set("Content-Type", e.ContentType)
	}
	switch {
	case e.Security == "oauth2":
		request.Header.Set("Authorization", "Bearer "+live.AccessToken)
	case e.Security == "clientBasic" && !inForm:
		// RFC 6749 requires form-encoding of both parts.
		request.SetBasicAuth(url.QueryEscape(live.ClientID), url.QueryEscape(live.ClientSecret))
	}
	return request, nil
}
