package openapitest

import (
	"io"
	"slices"
	"testing"
)

func example(t *testing.T, name string) Example {
	t.Helper()
	all := Examples()
	i := slices.IndexFunc(all, func(e Example) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("there is no example %s", name)
	}
	return all[i]
}

func TestExamplesCoverEveryOperation(t *testing.T) {
	seen := make(map[string]bool)
	covered := make(map[string]bool)
	for _, e := range Examples() {
		if seen[e.Name] {
			t.Errorf("there are two examples %s", e.Name)
		}
		seen[e.Name] = true
		covered[e.Method+" "+e.Path] = true
	}
	for _, p := range compiled().paths {
		for method := range p.operations {
			if !covered[method+" "+p.template] {
				t.Errorf("%s %s has no example", method, p.template)
			}
		}
	}
}

func TestExampleRequests(t *testing.T) {
	live := Live{PatientID: "pat_live", RecordID: "rec_live", WebhookID: "whk_live", DeliveryID: "dlv_live", ReportID: "rep_live", ExportID: "exp_live", AliasID: "als_live",
		AccessToken: "at_live", ClientID: "cli_live", ClientSecret: "cs live"}
	const base = "https://api.example.com"
	for _, c := range []struct{ name, method, url, authorization, contentType, body string }{
		{"listPatients", "GET", "/v1/patients", "Bearer at_live", "", ""},
		{"listPatients/limit=20", "GET", "/v1/patients?limit=20", "Bearer at_live", "", ""},
		{"getPatient", "GET", "/v1/patients/pat_live", "Bearer at_live", "", ""},
		{"createPatient/minimal", "POST", "/v1/patients", "Bearer at_live", "application/json", `{"date_of_birth":"1990-11-23","name":"Tomasz Okafor"}`},
		{"updatePatient/birth_date", "PATCH", "/v1/patients/pat_live", "Bearer at_live", "application/merge-patch+json", `{"date_of_birth":"1968-04-12"}`},
		{"getClinicalRecord", "GET", "/v1/patients/pat_live/clinical-data/rec_live", "Bearer at_live", "", ""},
		{"downloadExportFile", "GET", "/v1/exports/exp_live/files/patients.parquet", "Bearer at_live", "", ""},
		{"getAlias", "GET", "/v1/reference/medications/aliases/als_live", "Bearer at_live", "", ""},
		{"getDelivery", "GET", "/v1/webhooks/whk_live/deliveries/dlv_live", "Bearer at_live", "", ""},
		{"createToken/form", "POST", "/oauth/token", "", formType, "client_id=cli_live&client_secret=cs+live&grant_type=client_credentials"},
		{"createToken/basic", "POST", "/oauth/token", "Basic Y2xpX2xpdmU6Y3MrbGl2ZQ==", formType, "grant_type=client_credentials"},
		{"getHealth", "GET", "/healthz", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := example(t, c.name).Request(t.Context(), base, live)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			if r.Method != c.method || r.URL.String() != base+c.url || r.Header.Get("Authorization") != c.authorization ||
				r.Header.Get("Content-Type") != c.contentType || string(body) != c.body {
				t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, body)
			}
		})
	}
}

// TestExamplesAreIndependent verifies that no two bodies of a path share an
// idempotency key: the server would reject the second.
func TestExamplesAreIndependent(t *testing.T) {
	keys := map[string]int{}
	for _, e := range Examples() {
		if e.Header.Get("Idempotency-Key") != "" {
			keys[e.Method+" "+e.Path]++
		}
	}
	if keys["POST /v1/patients"] == 0 {
		t.Error("no example has a key")
	}
	for path, count := range keys {
		if count != 1 {
			t.Errorf("%s has %d examples with a key, want one", path, count)
		}
	}
}
