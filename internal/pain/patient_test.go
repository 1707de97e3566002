package pain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

var (
	testNow = time.Date(2026, 3, 1, 23, 30, 15, 987654321, time.FixedZone("", -3600)) // 2026-03-02 in UTC
	testID  = id.New[id.PatientKind](time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC))
)

// noted lists an error's faults as "path value message".
func noted(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.InvalidParameter {
		t.Fatalf("not a fault of a parameter: %v", err)
	}
	list, ok := e.Details["errors"].([]fault.Field)
	if !ok {
		list = []fault.Field{{Parameter: e.Details["parameter"].(string), Value: e.Details["value"], Message: e.Message}}
	}
	var lines []string
	for _, f := range list {
		value, err := json.Marshal(f.Value)
		if err != nil {
			t.Fatalf("value of %s: %v", f.Parameter, err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", f.Parameter, value, f.Message))
	}
	return lines
}

func parse(t testing.TB, body string) *strictjson.Object {
	t.Helper()
	o, err := strictjson.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func create(t testing.TB, body string) Patient {
	t.Helper()
	p, err := NewPatient(parse(t, body), testID, testNow)
	if err != nil {
		t.Fatalf("%s: %q", body, noted(t, err))
	}
	return p
}

func TestNewPatient(t *testing.T) {
	p := create(t, `{"name":"\u00a0 Zoë Ångström\t","date_of_birth":"1961-03-14","gender":" F ","contact":{"email":"z@x.se","phone":"+46 (8) 1"},
		"medical_history":["  Gout ",{"notes":"a\nb","condition":"Low back pain","icd10_code":"M54.50","status":"active"}]}`)
	want := Patient{ID: testID, Name: "Zoë Ångström", DateOfBirth: Date{1961, time.March, 14}, Gender: " F ",
		Contact: Contact{"z@x.se", "+46 (8) 1"},
		MedicalHistory: NewHistory(HistoryEntry{Condition: "Gout"},
			HistoryEntry{Condition: "Low back pain", ICD10Code: "M54.50", Status: "active", Notes: "a\nb"}),
		CreatedAt: time.Date(2026, 3, 2, 0, 30, 15, 0, time.UTC), Version: 1}
	if p != want {
		t.Fatalf("got  %+v\nwant %+v", p, want)
	}
}

// Absent, null and "" are the same for what is optional.
func TestNewPatientWithout(t *testing.T) {
	want := create(t, `{"name":"A","date_of_birth":"2000-01-01"}`)
	for _, rest := range []string{`"gender":null,"contact":null,"medical_history":null`, `"gender":"","contact":{},"medical_history":[]`, `"contact":{"email":"","phone":null}`} {
		if p := create(t, `{"name":"A","date_of_birth":"2000-01-01",`+rest+`}`); p != want {
			t.Errorf("%s gives %+v", rest, p)
		}
	}
}

func TestPatientRules(t *testing.T) {
	const oneAt = "contact.email must be an e-mail address with exactly one @ and text on both sides of it."
	const control = " must not contain control characters or line breaks."
	const noDate = " date_of_birth must be a real date in the form YYYY-MM-DD."
	rep := strings.Repeat
	for _, c := range []struct {
		member string // one member of the body, in JSON
		fault  string // path, value, message; "" when it is accepted
	}{
		{`"name":null`, "name null name is required."},
		{`"name":""`, `name "" name is required.`},
		{`"name":" \u2003\n"`, `name " ` + "\u2003" + `\n" name must not be blank.`},
		{`"name":7`, `name 7 name must be a string.`},
		{`"name":"` + rep("é", 200) + `"`, ""},
		{`"name":"  ` + rep("é", 200) + `  "`, ""},
		{`"name":"` + rep("x", 201) + `"`, `name "` + rep("x", 200) + `…" name must have at most 200 characters.`},
		{`"name":"a\u0000b"`, `name "a\u0000b" name` + control},
		{`"name":"a\nb"`, `name "a\nb" name` + control},
		{`"name":"a\u0085b"`, "name \"a\u0085b\" name" + control},
		{`"name":"a\u2028b"`, `name "a\u2028b" name` + control},
		{`"name":"a\u2029b"`, `name "a\u2029b" name` + control},
		{`"name":"\u200fשרה"`, ""},
		{`"name":"Robert'); DROP TABLE -- 😀"`, ""},

		{`"date_of_birth":null`, "date_of_birth null date_of_birth is required, in the form YYYY-MM-DD."},
		{`"date_of_birth":""`, `date_of_birth ""` + noDate},
		{`"date_of_birth":19900101`, `date_of_birth 19900101` + noDate},
		{`"date_of_birth":"1990-02-30"`, `date_of_birth "1990-02-30"` + noDate},
		{`"date_of_birth":"01/02/1990"`, `date_of_birth "01/02/1990"` + noDate},
		{`"date_of_birth":"1990-01-01T00:00:00Z"`, `date_of_birth "1990-01-01T00:00:00Z"` + noDate},
		{`"date_of_birth":"2026-03-02"`, ""},
		{`"date_of_birth":"2026-03-03"`, `date_of_birth "2026-03-03" date_of_birth must not be in the future (YYYY-MM-DD, in UTC).`},
		{`"date_of_birth":"1900-01-01"`, ""},
		{`"date_of_birth":"1899-12-31"`, `date_of_birth "1899-12-31" date_of_birth must not be before 1900-01-01 (YYYY-MM-DD).`},

		{`"gender":"` + rep("ä", 50) + `"`, ""},
		{`"gender":"` + rep("x", 51) + `"`, `gender "` + rep("x", 51) + `" gender must have at most 50 characters.`},
		{`"gender":"a\tb"`, `gender "a\tb" gender` + control},
		{`"gender":true`, `gender true gender must be a string.`},

		{`"contact":"a@b"`, `contact "a@b" contact must be an object.`},
		{`"contact":{"emial":"a@b"}`, `contact.emial "a@b" Unknown field. Did you mean "email"?`},
		{`"contact":{"email":"a@b"}`, ""},
		{`"contact":{"email":["a@b"]}`, `contact.email ["a@b"] contact.email must be a string.`},
		{`"contact":{"email":"ab"}`, `contact.email "ab" ` + oneAt},
		{`"contact":{"email":"@b"}`, `contact.email "@b" ` + oneAt},
		{`"contact":{"email":"a@"}`, `contact.email "a@" ` + oneAt},
		{`"contact":{"email":"a@b@c"}`, `contact.email "a@b@c" ` + oneAt},
		{`"contact":{"email":"a b@c"}`, `contact.email "a b@c" contact.email must not contain spaces or control characters.`},
		{`"contact":{"email":"a@b\u007f"}`, "contact.email \"a@b\u007f\" contact.email must not contain spaces or control characters."},
		{`"contact":{"email":"` + rep("a", 252) + `@b"}`, ""},
		{`"contact":{"email":"` + rep("a", 253) + `@b"}`, `contact.email "` + rep("a", 200) + `…" contact.email must have at most 254 characters.`},
		{`"contact":{"phone":"` + rep("1", 40) + `"}`, ""},
		{`"contact":{"phone":"` + rep("1", 41) + `"}`, `contact.phone "` + rep("1", 41) + `" contact.phone must have at most 40 characters.`},
		{`"contact":{"phone":"1\n2"}`, `contact.phone "1\n2" contact.phone must have printable characters only.`},
		{`"contact":{"phone":"1\u00a02"}`, "contact.phone \"1\u00a02\" contact.phone must have printable characters only."},

		{`"id":"pat_1"`, `id "pat_1" id is read-only: the service sets it.`},
		{`"created_at":null`, `created_at null created_at is read-only: the service sets it.`},
		{`"nick_name":"x"`, `nick_name "x" Unknown field.`},
		{`"Gender":"x"`, `Gender "x" Unknown field. Did you mean "gender"?`},
	} {
		t.Run(c.member, func(t *testing.T) {
			body := "{" + c.member
			for _, required := range []string{`"name":"A"`, `"date_of_birth":"2000-01-01"`} {
				if key, _, _ := strings.Cut(required, ":"); !strings.HasPrefix(c.member, key) {
					body += "," + required
				}
			}
			old := create(t, `{"name":"Old","date_of_birth":"1980-01-01"}`)
			_, err := NewPatient(parse(t, body+"}"), testID, testNow)
			_, changes, patchErr := PatchPatient(old, parse(t, "{"+c.member+"}"), testNow)
			if got := strings.Join(noted(t, err), "; "); got != c.fault {
				t.Errorf("creation: %s\nwant %s", got, c.fault)
			}
			if got := strings.Join(noted(t, patchErr), "; "); got != c.fault {
				t.Errorf("patch: %s\nwant %s", got, c.fault)
			}
			if patchErr != nil && changes != nil {
				t.Errorf("a refused patch gives changes: %v", changes)
			}
		})
	}
}

// All errors are reported at once, in the order of the contract.
func TestNewPatientNamesEveryFault(t *testing.T) {
	_, err := NewPatient(parse(t, `{"x":1,"contact":{"phone":1},"medical_history":["",{}]}`), testID, testNow)
	var paths []string
	for _, line := range noted(t, err) {
		path, _, _ := strings.Cut(line, " ")
		paths = append(paths, path)
	}
	want := []string{"name", "date_of_birth", "contact.phone", "medical_history[0]", "medical_history[1].condition", "x"}
	if !slices.Equal(paths, want) {
		t.Fatalf("got %q", paths)
	}
	if strings.Contains(err.Error(), "1") {
		t.Errorf("the error's text holds a value: %v", err)
	}
}
