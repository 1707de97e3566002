package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

// noted lists faults as "path value message".
func noted(t testing.TB, fields *fault.Fields) []string {
	t.Helper()
	e, ok := errors.AsType[*fault.Error](fields.Err())
	if !ok {
		return nil
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

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, body string
		read       func(r *Reader) any
		want       any
		fault      string
	}{
		{"string", `{"a":"x\ty"}`, str, "x\ty true", ""},
		{"escaped name", `{"\u0061":"x"}`, str, "x true", ""},
		{"string absent", `{}`, str, " false", ""},
		{"string null", `{"a":null}`, str, " false", ""},
		{"string empty", `{"a":""}`, str, " false", ""},
		{"string wrong", `{"a":1.0}`, str, " false", "a 1.0 a must be a string."},
		{"required", `{"a":"x"}`, required, "x true", ""},
		{"required absent", `{}`, required, " false", "a null a is required."},
		{"required null", `{"a":null}`, required, " false", "a null a is required."},
		{"required empty", `{"a":""}`, required, " false", `a "" a is required.`},
		{"required wrong", `{"a":[]}`, required, " false", "a [] a must be a string."},
		{"number", `{"a":-1.5e1}`, number, "-15 true", ""},
		{"number null", `{"a":null}`, number, "0 false", ""},
		{"number wrong", `{"a":"7"}`, number, "0 false", `a "7" a must be a number.`},
		{"number too large", `{"a":1e400}`, number, "0 false", `a 1e400 a must be a number.`},
		{"bool", `{"a":true}`, boolean, "true true", ""},
		{"bool false", `{"a":false}`, boolean, "false true", ""},
		{"bool wrong", `{"a":0}`, boolean, "false false", "a 0 a must be true or false."},
		{"object wrong", `{"a":[{}]}`, object, false, "a [{}] a must be an object."},
		{"array wrong", `{"a":{}}`, array, false, "a {} a must be an array."},
		{"has", `{"a":0}`, has, "true false", ""},
		{"has null", `{"a":null}`, has, "true true", ""},
		{"has not", `{}`, has, "false false", ""},
		{"refused", `{"a":"x"}`, refuse, nil, `a "x" a is read-only.`},
		{"refused null", `{"a":null}`, refuse, nil, `a null a is read-only.`},
		{"refused absent", `{}`, refuse, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fields fault.Fields
			r := Read(mustParse(t, c.body), &fields)
			if got := c.read(&r); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			r.Done()
			if got := strings.Join(noted(t, &fields), "; "); got != c.fault {
				t.Errorf("noted %q, want %q", got, c.fault)
			}
		})
	}
}

func str(r *Reader) any      { s, ok := r.String("a"); return fmt.Sprint(s, " ", ok) }
func required(r *Reader) any { s, ok := r.Required("a"); return fmt.Sprint(s, " ", ok) }
func number(r *Reader) any   { f, ok := r.Number("a"); return fmt.Sprint(f, " ", ok) }
func boolean(r *Reader) any  { b, ok := r.Bool("a"); return fmt.Sprint(b, " ", ok) }
func object(r *Reader) any   { _, ok := r.Object("a"); return ok }
func array(r *Reader) any    { _, ok := r.Array("a"); return ok }
func has(r *Reader) any      { p, n := r.Has("a"); return fmt.Sprint(p, " ", n) }
func refuse(r *Reader) any   { r.Refuse("a", "is read-only."); return nil }

// Paths lead from the body to the value, through objects and arrays.
func TestPaths(t *testing.T) {
	o := mustParse(t, `{"first":1,"records":[0,{"value":{"skip":[[]],"score":"x","extra":2}}],"last":0}`)
	var fields fault.Fields
	r := Read(o, &fields)
	records, _ := r.Array("records")
	for i, v := range records.All() {
		if i == 0 {
			v.Fault(&fields, "must be an object.")
			continue
		}
		record, _ := v.AsObject()
		rr := Read(record, &fields)
		value, _ := rr.Object("value")
		vr := Read(value, &fields)
		vr.Array("skip")
		vr.Number("score")
		vr.Required("unit")
		vr.Done()
	}
	want := []string{
		"records[0] 0 records[0] must be an object.",
		`records[1].value.score "x" records[1].value.score must be a number.`,
		"records[1].value.unit null records[1].value.unit is required.",
		"records[1].value.extra 2 Unknown field.",
	}
	if got := noted(t, &fields); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("noted\n%s", strings.Join(got, "\n"))
	}
}

func TestDone(t *testing.T) {
	long := strings.Repeat("n", 1000)
	o := mustParse(t, `{"nmae":"x","dateOfBirth":null,"`+long+`":{},"gender":""}`)
	var fields fault.Fields
	r := Read(o, &fields)
	for _, name := range []string{"name", "date_of_birth", "gender"} {
		r.String(name)
	}
	for i := range 20 {
		r.String(fmt.Sprint("filler", i))
	}
	r.Done()
	want := []string{
		`nmae "x" Unknown field. Did you mean "name"?`,
		`dateOfBirth null Unknown field. Did you mean "date_of_birth"?`,
		long[:200] + `… {} Unknown field.`,
	}
	if got := noted(t, &fields); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("noted\n%s", strings.Join(got, "\n"))
	}
}

func TestDoneIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	var fields fault.Fields
	r := Read(mustParse(t, "{"+b.String()[1:]+"}"), &fields)
	r.Done()
	if n := len(noted(t, &fields)); n != maxUnknown {
		t.Fatalf("%d faults", n)
	}
}

// What is logged of a fault holds nothing that the caller sent.
func TestErrorsAreSafeToLog(t *testing.T) {
	for _, body := range []string{`{"Secret":1}`, `{"name":["Secret"]}`, `{"name":"Secret`, `{"Secret":1,"Secret":2}`, "{\"Secret\xff\":1}"} {
		o, err := Parse([]byte(body))
		if err == nil {
			var fields fault.Fields
			r := Read(o, &fields)
			r.String("name")
			r.Done()
			err = fields.Err()
		}
		if err == nil || strings.Contains(err.Error(), "Secret") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"name", "date_of_birth", "gender", "contact", "medical_history", "page", "id"}
	for _, c := range []struct{ word, want string }{
		{"nmae", "name"}, {"Name", "name"}, {"names", "name"}, {"nam", "name"}, {"nxmx", ""},
		{"dateOfBirth", "date_of_birth"}, {"date-of-birht", "date_of_birth"}, {"dob", ""},
		{"gendre", "gender"}, {"gneder", "gender"}, {"sex", ""}, {"contcat", "contact"}, {"cntct", "contact"},
		{"medicalHistoy", "medical_history"}, {"to", ""}, {"i", "id"}, {"", ""},
		{strings.Repeat("x", 5000), ""}, {"Ä", ""}, {strings.Repeat("Ⱥ", 32), ""},
	} {
		if got := Suggest(c.word, known); got != c.want {
			t.Errorf("Suggest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	if got := Suggest("bat", []string{"cat", "hat"}); got != "cat" {
		t.Errorf("of equally near names %q was taken", got)
	}
	if got := Suggest("x", []string{strings.Repeat("x", 500)}); got != "" {
		t.Errorf("got %q", got)
	}
}
