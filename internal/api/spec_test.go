package api

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"
)

// The sentences of the specification that this stage covers, and the test of
// each. Tests of a later section are in spec_patients_test.go (4),
// spec_webhooks_test.go (4.11, with its own list) and spec_service_test.go
// (4.12 to 9).
//
//	     Bodies are JSON unless stated otherwise                 TestSpec0_BodiesAreJSON
//	1    creating, listing and reading patient records           TestSpec1_CreateListRead
//	1    every request is authenticated and rate limited         TestSpec1_AuthenticatedAndLimited
//	2    list item: id, name, date_of_birth, created_at          TestSpec2_ListItem
//	2    detail: list item plus gender, contact, medical_history TestSpec2_Detail
//	2    gender: free text                                       TestSpec2_GenderIsFreeText
//	2    contact holds email and phone, strings                  TestSpec2_Contact
//	2    medical_history: list of entries                        TestSpec2_MedicalHistory
//	2    creation payload: accepted fields                       TestSpec2_CreationPayload
//	2    pagination: page, limit, total; matching records        TestSpec2_Pagination
//	4    all endpoints need the Authorization header             TestSpec4_AllNeedAuthorization
//	4    {id} is a string identifier                             TestSpec4_IDIsAString
//	4.1  lists patients                                          TestSpec4_1_ListsPatients
//	4.1  all parameters are optional                             TestSpec4_1_ParametersAreOptional
//	4.1  page: integer, default 1                                TestSpec4_1_PageDefaultsTo1
//	4.1  limit: integer, default 50                              TestSpec4_1_LimitDefaultsTo50
//	4.1  limit: maximum 100                                      TestSpec4_1_LimitMaximumIs100
//	4.1  search: matched against name                            TestSpec4_1_SearchByName
//	4.1  search: matched against identifier                      TestSpec4_1_SearchByIdentifier
//	4.1  response: object with data and pagination               TestSpec4_1_Response
//	4.2  returns the detailed record at the top level            TestSpec4_2_DetailAtTopLevel
//	4.2  an unknown id yields 404                                TestSpec4_2_UnknownIs404
//	4.3  creates a patient record                                TestSpec4_3_Creates
//	4.3  Content-Type: application/json                          TestSpec4_3_ContentType
//	4.3  request body: the creation payload                      TestSpec4_3_Payload
//	4.12 POST /oauth/token                                       TestSpec4_12_Token
//	5.1  registration yields a client ID and a client secret     TestSpec5_ClientIDAndSecret
//	5.2  token request, form-encoded                             TestSpec5_TokenRequest
//	5.3  Authorization: Bearer                                   TestSpec5_BearerHeader
//	5.4  a missing or invalid token yields 401                   TestSpec5_MissingOrInvalidIs401
//	5.4  without sufficient permission 403                       TestSpec5_InsufficientIs403
//	6    patient.created: a patient was created                  TestSpec6_PatientCreated
//	7    the statuses of the table                               TestSpec7_Statuses
//	7    500: server error occurred                              TestSpec7_InternalServerError
//	7    error body: code, message, details                      TestSpec7_ErrorBody
//	7    INVALID_PARAMETER: parameter and value                  TestSpec7_InvalidParameter
//	7    message tells that a date must be YYYY-MM-DD            TestSpec7_DateMessage
//	8    tiers: 1,000, 10,000, 100,000                           TestSpec8_Tiers
//	8    exceeding the limit yields 429                          TestSpec8_ExceedingIs429
//	8    headers on every response, integers                     TestSpec8_HeadersOnEveryResponse
//	8    Limit, Remaining and Reset mean what they say           TestSpec8_HeaderMeanings
//	8    page defaults to 1, limit to 50, maximum 100            as 4.1
//	9    resource paths begin with /v1                           TestSpec9_VersionInPath

var (
	dayForm  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	timeForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$`)
	idForm   = regexp.MustCompile(`^pat_[0-9a-hjkmnp-tv-z]{26}$`)
)

const fullPatient = `{"name":"Ingrid Vasarely","date_of_birth":"1961-03-14","gender":"woman","contact":{"email":"ingrid@example.org","phone":"+46 8 123"},
	"medical_history":[{"condition":"Low back pain","icd10_code":"M54.50"},"Migraine"]}`

// members returns the names of an object's fields, sorted.
func members(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func wantMembers(t *testing.T, object map[string]any, want ...string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want)) // a copy: parallel tests share lists of names
	if got := members(object); !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
}

func TestSpec0_BodiesAreJSON(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, r := range []*reply{c.get("/v1/patients"), c.post("/v1/patients", fullPatient), c.get("/v1/nothing"), n.send("GET", "/healthz", "")} {
			if got := r.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type %q", r.what, got)
			}
			r.json()
		}
	})
}

func TestSpec1_CreateListRead(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		created := c.post("/v1/patients", fullPatient).is(http.StatusCreated)
		id := created.json()["id"].(string)
		if got := c.get("/v1/patients").names(); !slices.Equal(got, []string{"Ingrid Vasarely"}) {
			t.Errorf("listed %q", got)
		}
		if read := c.get("/v1/patients/" + id).is(http.StatusOK); string(read.body) != string(created.body) {
			t.Errorf("read %s, created %s", read.body, created.body)
		}
	})
}

func TestSpec1_AuthenticatedAndLimited(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		n.send("GET", "/v1/patients", "").is(http.StatusUnauthorized)
		c := n.caller("north")
		before := c.get("/v1/patients").is(http.StatusOK).remaining()
		if after := c.get("/v1/patients").is(http.StatusOK).remaining(); after != before-1 {
			t.Errorf("%d requests left after %d", after, before)
		}
	})
}

func TestSpec2_ListItem(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := time.Now().UTC().Truncate(time.Second)
		id := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"]
		item := c.get("/v1/patients").data()[0]
		wantMembers(t, item, "id", "name", "date_of_birth", "created_at")
		if item["id"] != id || !idForm.MatchString(item["id"].(string)) {
			t.Errorf("id %v, created as %v", item["id"], id)
		}
		if item["name"] != "Ingrid Vasarely" {
			t.Errorf("name %v", item["name"])
		}
		if day := item["date_of_birth"].(string); day != "1961-03-14" || !dayForm.MatchString(day) {
			t.Errorf("date_of_birth %v", day)
		}
		created := item["created_at"].(string)
		at, err := time.Parse(time.RFC3339, created)
		if err != nil || !timeForm.MatchString(created) || at.Before(before) || at.After(time.Now()) {
			t.Errorf("created_at %v, %v", created, err)
		}
	})
}

func TestSpec2_Detail(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"].(string)
		detail := c.get("/v1/patients/" + id).is(http.StatusOK).json()
		wantMembers(t, detail, "id", "name", "date_of_birth", "created_at", "gender", "contact", "medical_history")
		for name, value := range c.get("/v1/patients").data()[0] {
			if detail[name] != value {
				t.Errorf("%s is %v in the detail and %v in the list", name, detail[name], value)
			}
		}
	})
}

func TestSpec2_GenderIsFreeText(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, gender := range []string{"female", "X", "  as sent  ", "не указан", "f"} {
			got := c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1990-01-01","gender":`+quote(gender)+`}`).is(http.StatusCreated).json()["gender"]
			if got != gender {
				t.Errorf("gender %q, sent %q", got, gender)
			}
		}
	})
}

func TestSpec2_Contact(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		contact := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["contact"].(map[string]any)
		wantMembers(t, contact, "email", "phone")
		if contact["email"] != "ingrid@example.org" || contact["phone"] != "+46 8 123" {
			t.Errorf("contact %v", contact)
		}
	})
}

func TestSpec2_MedicalHistory(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		history := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["medical_history"].([]any)
		if len(history) != 2 || history[0].(map[string]any)["icd10_code"] != "M54.50" || history[1].(map[string]any)["condition"] != "Migraine" {
			t.Errorf("medical_history %v", history)
		}
		id := c.create("Arlo Finch")
		if history := c.get("/v1/patients/" + id).is(http.StatusOK).json()["medical_history"].([]any); len(history) != 0 {
			t.Errorf("medical_history %v of a patient without one", history)
		}
	})
}

func TestSpec2_CreationPayload(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for name, body := range map[string]string{
			"as shown":   `{"name":"Arlo Finch","date_of_birth":"1990-01-01","gender":"male","contact":{"email":"arlo@example.org"}}`,
			"with phone": `{"name":"Arlo Finch","date_of_birth":"1990-01-01","contact":{"phone":"555"}}`,
			"least":      `{"name":"Arlo Finch","date_of_birth":"1990-01-01"}`,
			"nulls":      `{"name":"Arlo Finch","date_of_birth":"1990-01-01","gender":null,"contact":{"email":null,"phone":""},"medical_history":null}`,
		} {
			detail := c.post("/v1/patients", body).is(http.StatusCreated).json()
			if detail["name"] != "Arlo Finch" || detail["date_of_birth"] != "1990-01-01" {
				t.Errorf("%s: %v", name, detail)
			}
			if name == "nulls" && (detail["gender"] != "" || detail["contact"].(map[string]any)["email"] != "") {
				t.Errorf("text without a value is not empty: %v", detail)
			}
		}
	})
}

func TestSpec2_Pagination(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, name := range []string{"Arlo Finch", "Berta Finch", "Cleo Wren"} {
			c.create(name)
		}
		r := c.get("/v1/patients?page=2&limit=2")
		wantMembers(t, r.json()["pagination"].(map[string]any), "page", "limit", "total")
		if got := r.pagination(); got != [3]int{2, 2, 3} {
			t.Errorf("page, limit, total: %v", got)
		}
		if got := c.get("/v1/patients?search=finch&limit=1").pagination(); got != [3]int{1, 1, 2} {
			t.Errorf("of the matching records: %v", got)
		}
	})
}
