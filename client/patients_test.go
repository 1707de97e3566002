package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

const ada = `{"id":"pat_1","name":"Ada","date_of_birth":"1980-02-29","created_at":"2026-01-15T10:30:00Z","gender":"f",
	"contact":{"email":"a@example.org","phone":"1"},"medical_history":[{"condition":"CRPS","icd10_code":"G90.50"}],"added_later":1}`

func TestPatientCalls(t *testing.T) {
	want := &client.Patient{
		PatientItem: client.PatientItem{ID: "pat_1", Name: "Ada", DateOfBirth: "1980-02-29",
			CreatedAt: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)},
		Gender:         "f",
		Contact:        client.Contact{Email: "a@example.org", Phone: "1"},
		MedicalHistory: []client.HistoryEntry{{Condition: "CRPS", ICD10Code: "G90.50"}},
		ETag:           `"v1"`,
	}
	type request struct{ line, mediaType, ifMatch, body string }
	tests := []struct {
		name string
		act  func(context.Context, *client.Client) (*client.Patient, error)
		want request
	}{
		{"create", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.CreatePatient(ctx, client.NewPatient{Name: "Ada", DateOfBirth: "1980-02-29",
				Contact:        client.Contact{Email: "a@example.org"},
				MedicalHistory: []client.HistoryEntry{{Condition: "CRPS"}}})
		}, request{"POST /v1/patients", "application/json", "",
			`{"name":"Ada","date_of_birth":"1980-02-29","contact":{"email":"a@example.org"},"medical_history":[{"condition":"CRPS"}]}`}},
		{"create with the least", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.CreatePatient(ctx, client.NewPatient{Name: "Ada", DateOfBirth: "1980-02-29"})
		}, request{"POST /v1/patients", "application/json", "", `{"name":"Ada","date_of_birth":"1980-02-29"}`}},
		{"put", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.PutPatient(ctx, client.Identifier{System: "mrn", Value: "1"}, client.NewPatient{Name: "Ada", DateOfBirth: "1980-02-29",
				Identifiers: []client.Identifier{{System: "lab", Value: "2"}}})
		}, request{"PUT /v1/patients?identifier=mrn%7C1", "application/json", "", `{"name":"Ada","date_of_birth":"1980-02-29","identifiers":[{"system":"lab","value":"2"}]}`}},
		{"get", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.Patient(ctx, "pat_1")
		}, request{line: "GET /v1/patients/pat_1"}},
		{"get with an odd identifier", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.Patient(ctx, "a/b?c")
		}, request{line: "GET /v1/patients/a%2Fb%3Fc"}},
		{"update", func(ctx context.Context, c *client.Client) (*client.Patient, error) {
			return c.UpdatePatient(ctx, "pat_1", client.PatientPatch{Gender: client.Null[string]()}, client.WithIfMatch(`"v0"`))
		}, request{"PATCH /v1/patients/pat_1", "application/merge-patch+json", `"v0"`, `{"gender":null}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got := request{r.Method + " " + r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("If-Match"), string(body)}
				if got != tt.want {
					t.Errorf("request %+v, want %+v", got, tt.want)
				}
				if r.Header.Get("Authorization") != "Bearer at_fixed" || r.Header.Get("User-Agent") != "test/1" {
					t.Errorf("header %v", r.Header)
				}
				if hasKey := r.Header.Get("Idempotency-Key") != ""; hasKey != (r.Method == http.MethodPost || r.Method == http.MethodPut) {
					t.Errorf("%s has a key: %v", r.Method, hasKey)
				}
				w.Header().Set("ETag", `"v1"`)
				_, _ = io.WriteString(w, ada)
			}, client.WithUserAgent("test/1"))
			got, err := tt.act(t.Context(), c)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestPatientPatch(t *testing.T) {
	for _, tt := range []struct {
		patch client.PatientPatch
		want  string
	}{
		{client.PatientPatch{}, `{}`},
		{client.PatientPatch{Name: client.Set("Ada"), Gender: client.Set("")}, `{"name":"Ada","gender":""}`},
		{client.PatientPatch{Contact: client.Null[client.ContactPatch]()}, `{"contact":null}`},
		{client.PatientPatch{Contact: client.Set(client.ContactPatch{Email: client.Null[string](), Phone: client.Set("1")})},
			`{"contact":{"email":null,"phone":"1"}}`},
		{client.PatientPatch{MedicalHistory: client.Set([]client.HistoryEntry{{Condition: "CRPS"}})}, `{"medical_history":[{"condition":"CRPS"}]}`},
		{client.PatientPatch{MedicalHistory: client.Set([]client.HistoryEntry{})}, `{"medical_history":[]}`},
	} {
		got, err := json.Marshal(tt.patch)
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v, want %s", got, err, tt.want)
		}
	}
}

func TestPatientsQuery(t *testing.T) {
	for _, tt := range []struct {
		query client.PatientQuery
		want  string
	}{
		{client.PatientQuery{}, "/v1/patients"},
		{client.PatientQuery{Page: 2, Limit: 10, Search: "O'Neil & Søn"}, "/v1/patients?limit=10&page=2&search=O%27Neil+%26+S%C3%B8n"},
		{client.PatientQuery{Page: -1, Limit: 101}, "/v1/patients?limit=101&page=-1"}, // the service judges
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.RequestURI != tt.want {
				t.Errorf("asked for %s, want %s", r.RequestURI, tt.want)
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"pat_1"}],"pagination":{"page":2,"limit":10,"total":11}}`)
		})
		page, err := c.Patients(t.Context(), tt.query)
		if err != nil || len(page.Data) != 1 || page.Pagination != (client.Pagination{Page: 2, Limit: 10, Total: 11}) {
			t.Errorf("page %+v, %v", page, err)
		}
	}
}

// list plays GET /v1/patients with some patients and notes the pages asked for.
func list(total int, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.FormValue("page"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		*asked = append(*asked, fmt.Sprintf("%dx%d%s", page, limit, r.FormValue("search")))
		data := []client.PatientItem{}
		for n := (page-1)*limit + 1; n <= min(page*limit, total); n++ {
			data = append(data, client.PatientItem{ID: fmt.Sprintf("pat_%d", n)})
		}
		answer(w, http.StatusOK, client.Page[client.PatientItem]{Data: data, Pagination: client.Pagination{Page: page, Limit: limit, Total: total}})
	}
}

func TestAllPatients(t *testing.T) {
	for _, tt := range []struct {
		name        string
		total, take int
		query       client.PatientQuery
		want        int
		asked       []string
	}{
		{"none", 0, 999, client.PatientQuery{}, 0, []string{"1x100"}},
		{"last page full", 200, 999, client.PatientQuery{}, 200, []string{"1x100", "2x100"}},
		{"last page short", 5, 999, client.PatientQuery{Limit: 2, Search: "a"}, 5, []string{"1x2a", "2x2a", "3x2a"}},
		{"from a page on", 5, 999, client.PatientQuery{Page: 2, Limit: 2}, 3, []string{"2x2", "3x2"}},
		{"behind the end", 5, 999, client.PatientQuery{Page: 9, Limit: 2}, 0, []string{"9x2"}},
		{"left early", 5, 2, client.PatientQuery{Limit: 2}, 2, []string{"1x2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			c := serve(t, list(tt.total, &asked))
			seen := map[string]bool{}
			for patient, err := range c.AllPatients(t.Context(), tt.query) {
				if err != nil {
					t.Fatal(err)
				}
				if seen[patient.ID] = true; len(seen) == tt.take {
					break
				}
			}
			if len(seen) != tt.want || !slices.Equal(asked, tt.asked) {
				t.Errorf("%d patients by pages %v, want %d by %v", len(seen), asked, tt.want, tt.asked)
			}
		})
	}
}

func TestAllPatientsEndsAfterError(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("page") == "1" {
			answer(w, http.StatusOK, map[string]any{"data": []any{map[string]any{"id": "pat_1"}}, "pagination": map[string]int{"limit": 1, "total": 9}})
			return
		}
		refuse(w, http.StatusForbidden, client.CodeForbidden, nil)
	})
	var got []string
	for patient, err := range c.AllPatients(t.Context(), client.PatientQuery{}) {
		e, _ := errors.AsType[*client.Error](err)
		got = append(got, fmt.Sprint(patient.ID, e != nil))
	}
	if want := []string{"pat_1false", "true"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
