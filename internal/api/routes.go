package api

import (
	"net/http"
	"path"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// route is one entry of the route table.
type route struct {
	method, pattern string
	// scope is required of the token.
	scope access.Scopes
	// fhir is what the token must permit with resources of the type in the
	// path, for a route of FHIR; see [exchange.admitFHIR].
	fhir access.FHIRVerbs
	// early lets the handler run while the request is being counted, so that
	// its lookups are sent in the same message; see [exchange.settle]. The
	// handler must not have side effects, and mayReadEarly must know the path.
	early  bool
	handle func(*exchange) (answer, error)
}

// table lists all routes. A test verifies that the OpenAPI document has the
// same ones.
func (a *API) table() []route {
	return []route{
		{method: "GET", pattern: "/v1/patients", scope: access.PatientsRead, early: true, handle: a.listPatients},
		{method: "POST", pattern: "/v1/patients", scope: access.PatientsWrite, handle: a.createPatient},
		{method: "PUT", pattern: "/v1/patients", scope: access.PatientsWrite, handle: a.putPatient},
		{method: "GET", pattern: "/v1/patients/{id}", scope: access.PatientsRead, early: true, handle: a.getPatient},
		{method: "GET", pattern: "/v1/patients/{id}/summary", scope: access.ClinicalDataRead, handle: a.getSummary},
		{method: "PATCH", pattern: "/v1/patients/{id}", scope: access.PatientsWrite, handle: a.patchPatient},
		{method: "POST", pattern: "/v1/patients/{id}/merge", scope: access.PatientsWrite, handle: a.mergePatient},
		{method: "DELETE", pattern: "/v1/patients/{id}", scope: access.PatientsErase, handle: a.erasePatient},
		{method: "GET", pattern: "/v1/patients/{id}/clinical-data", scope: access.ClinicalDataRead, handle: a.listClinicalData},
		{method: "POST", pattern: "/v1/patients/{id}/clinical-data", scope: access.ClinicalDataWrite, handle: a.addClinicalData},
		{method: "GET", pattern: "/v1/patients/{id}/clinical-data/{record_id}", scope: access.ClinicalDataRead, handle: a.getClinicalRecord},
		{method: "GET", pattern: "/v1/patients/{id}/clinical-data/{record_id}/corrections", scope: access.ClinicalDataRead, handle: a.listCorrections},
		{method: "POST", pattern: "/v1/patients/{id}/clinical-data/{record_id}/corrections", scope: access.ClinicalDataWrite, handle: a.correctClinicalRecord},
		{method: "GET", pattern: "/v1/clinical-data", scope: access.ClinicalDataRead, handle: a.listClinicalChanges},
		{method: "GET", pattern: "/v1/cohorts", scope: access.PatientsRead, handle: a.listCohorts},
		{method: "POST", pattern: "/v1/cohorts", scope: access.PatientsWrite, handle: a.createCohort},
		{method: "GET", pattern: "/v1/cohorts/{id}", scope: access.PatientsRead, handle: a.getCohort},
		{method: "DELETE", pattern: "/v1/cohorts/{id}", scope: access.PatientsWrite, handle: a.deleteCohort},
		{method: "GET", pattern: "/v1/reports", scope: access.ReportsRead, handle: a.listReports},
		{method: "POST", pattern: "/v1/reports", scope: access.ReportsWrite, handle: a.createReport},
		{method: "GET", pattern: "/v1/reports/{id}", scope: access.ReportsRead, handle: a.getReport},
		{method: "DELETE", pattern: "/v1/reports/{id}", scope: access.ReportsWrite, handle: a.deleteReport},
		{method: "GET", pattern: "/v1/reports/{id}/download", scope: access.ReportsRead, handle: a.downloadReport},
		{method: "GET", pattern: "/v1/exports", scope: access.ExportsRead, handle: a.listExports},
		{method: "POST", pattern: "/v1/exports", scope: access.ExportsWrite, handle: a.createExport},
		{method: "GET", pattern: "/v1/exports/{id}", scope: access.ExportsRead, handle: a.getExport},
		{method: "DELETE", pattern: "/v1/exports/{id}", scope: access.ExportsWrite, handle: a.deleteExport},
		{method: "GET", pattern: "/v1/exports/{id}/files/{name}", scope: access.ExportsRead, handle: a.downloadExport},
		{method: "GET", pattern: "/v1/reference/data-types", handle: a.referenceDataTypes},
		{method: "GET", pattern: "/v1/reference/instruments", handle: a.referenceInstruments},
		{method: "GET", pattern: "/v1/reference/medications", handle: a.referenceMedications},
		{method: "GET", pattern: "/v1/reference/medications/lookup", handle: a.lookUpMedication},
		{method: "GET", pattern: "/v1/reference/medications/aliases", scope: access.ClinicalDataRead, handle: a.listAliases},
		{method: "POST", pattern: "/v1/reference/medications/aliases", scope: access.ClinicalDataWrite, handle: a.createAlias},
		{method: "GET", pattern: "/v1/reference/medications/aliases/{id}", scope: access.ClinicalDataRead, handle: a.getAlias},
		{method: "PATCH", pattern: "/v1/reference/medications/aliases/{id}", scope: access.ClinicalDataWrite, handle: a.patchAlias},
		{method: "DELETE", pattern: "/v1/reference/medications/aliases/{id}", scope: access.ClinicalDataWrite, handle: a.deleteAlias},
		{method: "GET", pattern: "/v1/analytics/outcomes", scope: access.AnalyticsRead, handle: a.getOutcomes},
		{method: "GET", pattern: "/v1/analytics/population-health", scope: access.AnalyticsRead, handle: a.getPopulationHealth},
		{method: "GET", pattern: "/v1/events", scope: access.EventsRead, handle: a.listEvents},
		{method: "GET", pattern: "/v1/webhooks", scope: access.WebhooksRead, handle: a.listWebhooks},
		{method: "POST", pattern: "/v1/webhooks", scope: access.WebhooksWrite, handle: a.createWebhook},
		{method: "GET", pattern: "/v1/webhooks/{id}", scope: access.WebhooksRead, handle: a.getWebhook},
		{method: "PATCH", pattern: "/v1/webhooks/{id}", scope: access.WebhooksWrite, handle: a.patchWebhook},
		{method: "DELETE", pattern: "/v1/webhooks/{id}", scope: access.WebhooksWrite, handle: a.deleteWebhook},
		{method: "POST", pattern: "/v1/webhooks/{id}/rotate-secret", scope: access.WebhooksWrite, handle: a.rotateWebhookSecret},
		{method: "POST", pattern: "/v1/webhooks/{id}/test", scope: access.WebhooksWrite, handle: a.testWebhook},
		{method: "POST", pattern: "/v1/webhooks/{id}/recover", scope: access.WebhooksWrite, handle: a.recoverWebhook},
		{method: "GET", pattern: "/v1/webhooks/{id}/stats", scope: access.WebhooksRead, handle: a.getWebhookStats},
		{method: "GET", pattern: "/v1/webhooks/{id}/deliveries", scope: access.WebhooksRead, handle: a.listDeliveries},
		{method: "GET", pattern: "/v1/webhooks/{id}/deliveries/{delivery_id}", scope: access.WebhooksRead, handle: a.getDelivery},
		{method: "POST", pattern: "/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", scope: access.WebhooksWrite, handle: a.redeliver},
		{method: "GET", pattern: "/v1/audit", scope: access.AuditRead, handle: a.listAudit},

		{method: "POST", pattern: "/fhir/R4", handle: a.postBundle},
		{method: "GET", pattern: "/fhir/R4/$export", handle: a.exportSystem},
		{method: "POST", pattern: "/fhir/R4/$export", handle: a.exportSystem},
		{method: "GET", pattern: "/fhir/R4/Patient/$export", handle: a.exportPatients},
		{method: "POST", pattern: "/fhir/R4/Patient/$export", handle: a.exportPatients},
		{method: "GET", pattern: "/fhir/R4/Group/{id}/$export", handle: a.exportGroup},
		{method: "POST", pattern: "/fhir/R4/Group/{id}/$export", handle: a.exportGroup},
		{method: "GET", pattern: "/fhir/R4/Group", handle: a.searchGroups},
		{method: "POST", pattern: "/fhir/R4/Group", handle: a.createGroup},
		{method: "GET", pattern: "/fhir/R4/Group/{id}", handle: a.readGroup},
		{method: "GET", pattern: "/fhir/bulk/{id}", handle: a.bulkStatus},
		{method: "DELETE", pattern: "/fhir/bulk/{id}", handle: a.cancelBulk},
		{method: "GET", pattern: "/fhir/bulk/{id}/{name}", handle: a.downloadBulk},

		{method: "GET", pattern: "/fhir/R4/{type}", fhir: access.FHIRSearch, handle: a.searchFHIR},
		{method: "POST", pattern: "/fhir/R4/{type}/_search", fhir: access.FHIRSearch, handle: a.searchFHIR},
		{method: "POST", pattern: "/fhir/R4/{type}", fhir: access.FHIRCreate, handle: a.createFHIR},
		{method: "PUT", pattern: "/fhir/R4/{type}", fhir: access.FHIRCreate | access.FHIRUpdate, handle: a.putFHIR},
		{method: "GET", pattern: "/fhir/R4/{type}/{id}", fhir: access.FHIRRead, handle: a.readFHIR},
		{method: "PUT", pattern: "/fhir/R4/{type}/{id}", fhir: access.FHIRUpdate, handle: a.updateFHIR},
		{method: "GET", pattern: "/fhir/R4/{type}/{id}/_history", fhir: access.FHIRRead, handle: a.historyFHIR},
		{method: "GET", pattern: "/fhir/R4/{type}/{id}/_history/{version}", fhir: access.FHIRRead, handle: a.vreadFHIR},
		{method: "GET", pattern: "/fhir/R4/Patient/{id}/$everything", fhir: access.FHIRRead, handle: a.everythingFHIR},

		// These authenticate the client by its secret or key, and do their own
		// counting.
		{method: "POST", pattern: "/oauth/token", handle: a.issueToken},
		{method: "POST", pattern: "/oauth/revoke", handle: a.revokeToken},
		{method: "POST", pattern: "/oauth/introspect", handle: a.introspectToken},

		// These need no token and are not counted.
		{method: "GET", pattern: "/.well-known/oauth-authorization-server", handle: a.oauthMetadata},
		{method: "GET", pattern: "/.well-known/smart-configuration", handle: a.smartConfiguration},
		{method: "GET", pattern: "/fhir/R4/.well-known/smart-configuration", handle: a.smartConfiguration},
		{method: "GET", pattern: "/fhir/R4/metadata", handle: a.fhirMetadata},
		{method: "GET", pattern: "/healthz", handle: a.healthz},
		{method: "GET", pattern: "/readyz", handle: a.readyz},
		{method: "GET", pattern: "/openapi.json", handle: a.openapiJSON},
		{method: "GET", pattern: "/openapi.yaml", handle: a.openapiYAML},
	}
}

// Routes lists the table as "METHOD /pattern", for tests.
func (a *API) Routes() []string {
	var list []string
	for _, rt := range a.routes {
		list = append(list, rt.method+" "+rt.pattern)
	}
	return list
}

func underV1(p string) bool { return p == "/v1" || strings.HasPrefix(p, "/v1/") }

// isClean rejects paths with "//" and "..", for which net/http would redirect;
// an API returns 404.
func isClean(p string) bool {
	clean := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == clean || clean != "/" && p == clean+"/")
}

// unknown responds to requests that match no route: with 405 if the path
// exists with another method, and with 404 otherwise.
func (a *API) unknown(x *exchange) {
	if err := x.settle(); err != nil {
		x.fail(err)
		return
	}
	if x.principal == nil { // outside /v1
		if err := a.admit(x); err != nil && fault.CodeOf(err) != fault.Unauthorized {
			x.fail(err)
			return
		}
	}
	if allowed := a.allowed(x.r); allowed != "" {
		x.h["Allow"] = []string{allowed}
		x.fail(methodNotAllowed(allowed))
		return
	}
	x.fail(noSuchPath(x.r.URL.Path))
}

// allowed lists the methods supported by a path.
func (a *API) allowed(r *http.Request) string {
	if !isClean(r.URL.Path) {
		return ""
	}
	var methods []string
	probe := *r
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		probe.Method = method
		if _, pattern := a.mux.Handler(&probe); pattern != "/" && pattern != "" {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}
