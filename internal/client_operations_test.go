package internal

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/api/openapi"
)

// operations maps methods of the client to operations of the document. The
// types of their parameters and results are compared with the document.
var operations = map[string]string{
	"CreatePatient":       "POST /v1/patients",
	"PutPatient":          "PUT /v1/patients",
	"Patients":            "GET /v1/patients",
	"Patient":             "GET /v1/patients/{id}",
	"UpdatePatient":       "PATCH /v1/patients/{id}",
	"MergePatient":        "POST /v1/patients/{id}/merge",
	"ErasePatient":        "DELETE /v1/patients/{id}",
	"AddRecord":           "POST /v1/patients/{id}/clinical-data",
	"AddRecords":          "POST /v1/patients/{id}/clinical-data",
	"Records":             "GET /v1/patients/{id}/clinical-data",
	"Record":              "GET /v1/patients/{id}/clinical-data/{record_id}",
	"RecordHistory":       "GET /v1/patients/{id}/clinical-data/{record_id}/corrections",
	"CorrectRecord":       "POST /v1/patients/{id}/clinical-data/{record_id}/corrections",
	"RecordFeed":          "GET /v1/clinical-data",
	"CreateCohort":        "POST /v1/cohorts",
	"Cohorts":             "GET /v1/cohorts",
	"Cohort":              "GET /v1/cohorts/{id}",
	"DeleteCohort":        "DELETE /v1/cohorts/{id}",
	"CreateReport":        "POST /v1/reports",
	"Reports":             "GET /v1/reports",
	"Report":              "GET /v1/reports/{id}",
	"DeleteReport":        "DELETE /v1/reports/{id}",
	"DownloadReport":      "GET /v1/reports/{id}/download",
	"CreateExport":        "POST /v1/exports",
	"Exports":             "GET /v1/exports",
	"Export":              "GET /v1/exports/{id}",
	"DeleteExport":        "DELETE /v1/exports/{id}",
	"DownloadExportFile":  "GET /v1/exports/{id}/files/{name}",
	"CreateAlias":         "POST /v1/reference/medications/aliases",
	"Aliases":             "GET /v1/reference/medications/aliases",
	"Alias":               "GET /v1/reference/medications/aliases/{id}",
	"UpdateAlias":         "PATCH /v1/reference/medications/aliases/{id}",
	"DeleteAlias":         "DELETE /v1/reference/medications/aliases/{id}",
	"Outcomes":            "GET /v1/analytics/outcomes",
	"PopulationHealth":    "GET /v1/analytics/population-health",
	"Events":              "GET /v1/events",
	"CreateWebhook":       "POST /v1/webhooks",
	"Webhooks":            "GET /v1/webhooks",
	"Webhook":             "GET /v1/webhooks/{id}",
	"UpdateWebhook":       "PATCH /v1/webhooks/{id}",
	"DeleteWebhook":       "DELETE /v1/webhooks/{id}",
	"RotateWebhookSecret": "POST /v1/webhooks/{id}/rotate-secret",
	"TestWebhook":         "POST /v1/webhooks/{id}/test",
	"RecoverWebhook":      "POST /v1/webhooks/{id}/recover",
	"WebhookStats":        "GET /v1/webhooks/{id}/stats",
	"Deliveries":          "GET /v1/webhooks/{id}/deliveries",
	"Delivery":            "GET /v1/webhooks/{id}/deliveries/{delivery_id}",
	"Redeliver":           "POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
	"Audit":               "GET /v1/audit",
}

// Methods that rest on others, call nothing, or speak OAuth, which is a
// standard of its own.
var otherMethods = []string{
	"AllAliases", "AllCohorts", "AllDeliveries", "AllEvents", "AllExports", "AllPatients", "AllRecordChanges", "AllRecords", "AllReports", "AllWebhooks", "FollowEvents", "WaitExport", "WaitReport",
	"CloseIdleConnections", "RateLimit", "String",
	"Token", "Revoke", "Introspect",
}

// Operations without a method whose types could be compared.
var otherOperations = []string{
	"POST /oauth/token", "POST /oauth/revoke", "POST /oauth/introspect",
	"GET /v1/patients/{id}/summary",
	"GET /v1/reference/data-types", "GET /v1/reference/instruments", "GET /v1/reference/medications", "GET /v1/reference/medications/lookup",
	"GET /.well-known/oauth-authorization-server", "GET /.well-known/smart-configuration", "GET /fhir/R4/.well-known/smart-configuration", "GET /healthz", "GET /readyz", "GET /openapi.json", "GET /openapi.yaml",
}

// ofFHIR reports whether an operation is one of FHIR, a standard with clients of
// its own. Ours have no methods for them, except for the metadata of OAuth.
func ofFHIR(path string) bool {
	return strings.HasPrefix(path, "/fhir/") && !strings.HasSuffix(path, "/smart-configuration")
}

// A new method or operation must be added to one of the lists.
func TestClientHasEveryOperation(t *testing.T) {
	t.Parallel()
	var methods, routes []string
	for method := range reflect.TypeFor[*client.Client]().Methods() {
		methods = append(methods, method.Name)
	}
	for _, route := range openapi.Routes() {
		if !ofFHIR(route.Path) {
			routes = append(routes, route.Method+" "+route.Path)
		}
	}
	same(t, "methods of the client", methods, append(slices.Collect(maps.Keys(operations)), otherMethods...))
	same(t, "operations of the document", routes, append(slices.Collect(maps.Values(operations)), otherOperations...))
}

// Every method calls its operation, with all query parameters that this has.
func TestClientSendsEveryParameter(t *testing.T) {
	t.Parallel()
	var asked *http.Request
	c := client.New("http://service.test", "", "", client.WithToken("at_1"), client.WithHTTPClient(&http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r
			return (&httptest.ResponseRecorder{Code: http.StatusTeapot}).Result(), nil
		}),
	}))
	// Operations may share the type of a query: together they have what it has.
	document := readDocument(t)
	sent, known := map[string][]string{}, map[string][]string{}
	for name, operation := range operations {
		method := reflect.ValueOf(c).MethodByName(name)
		of, args := name, []reflect.Value{}
		for i := range method.Type().NumIn() {
			in := method.Type().In(i)
			if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
				break
			}
			if strings.HasSuffix(in.Name(), "Query") {
				of = in.Name()
			}
			args = append(args, filled(in))
		}
		method.Call(args)
		verb, path, _ := strings.Cut(operation, " ")
		if template := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x"); asked.Method != verb || asked.URL.Path != template {
			t.Errorf("%s calls %s %s, want %s", name, asked.Method, asked.URL.Path, operation)
		}
		parameters := document.queryParameters(operation)
		keys := slices.Collect(maps.Keys(asked.URL.Query()))
		for _, parameter := range parameters {
			if !slices.Contains(keys, parameter) {
				t.Errorf("%s cannot send %s of %s", name, parameter, operation)
			}
		}
		sent[of], known[of] = append(sent[of], keys...), append(known[of], parameters...)
	}
	for of := range sent {
		same(t, "parameters of "+of, sent[of], known[of])
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// filled makes a value of a type in which everything that can be set is.
func filled(typ reflect.Type) reflect.Value {
	switch typ {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[io.Writer]():
		return reflect.ValueOf(io.Discard)
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(1e9, 0))
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Second)
	}
	value := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Int:
		value.SetInt(1)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Interface:
		value.Set(reflect.ValueOf("x"))
	case reflect.Pointer:
		value.Set(reflect.New(typ.Elem()))
		value.Elem().Set(filled(typ.Elem()))
	case reflect.Slice:
		value.Set(reflect.Append(value, filled(typ.Elem())))
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				value.Field(i).Set(filled(typ.Field(i).Type))
			}
		}
	}
	return value
}

// same compares two lists as sets.
func same(t *testing.T, of string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", of, got, want)
	}
}
