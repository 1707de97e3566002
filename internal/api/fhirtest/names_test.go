package fhirtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func init() {
	tests["names"] = testNames
}

// A search by name finds the stored names first, and then those that are only
// kept, each once on pages of any size; a search by date of birth is exact.
func testNames(t *testing.T, s *server) {
	c := s.caller(t, "north")
	create := func(names, born string) string {
		body := `{"resourceType":"Patient","name":[` + names + `],"birthDate":"` + born + `"}`
		return "Patient/" + c.send("POST", base+"/Patient", body).is(http.StatusCreated).id()
	}
	maiden := create(`{"family":"Finch","given":["Berta"]},{"use":"maiden","family":"Nowak"}`, "1970-05-17")
	stored := create(`{"family":"Nowak","given":["Ada"]}`, "1984-05-17")
	both := create(`{"family":"Nowak","given":["Zoe"]},{"use":"maiden","family":"Novák"}`, "1970-05-17")
	other := create(`{"family":"Janowak","given":["Nova"]}`, "1990-01-01")
	prefixed := create(`{"family":"Ito","given":["Nobu"],"prefix":["Nowa-Dr."]}`, "1990-01-02")
	identified := c.patient(`{"name":"Ivo Finch","date_of_birth":"1990-01-01","identifiers":[{"system":"mrn","value":"nowak"}]}`)
	for i := range 5 {
		create(fmt.Sprintf(`{"family":"Filler%d","given":["Eve"]}`, i), "1999-09-09")
	}
	condition := func(patient string) string {
		body := `{"resourceType":"Condition","subject":{"reference":"` + patient + `"},"code":{"text":"Pain"}}`
		return "Condition/" + c.send("POST", base+"/Condition", body).is(http.StatusCreated).id()
	}
	conditions := []string{condition(maiden), condition(stored)}
	for query, want := range map[string][]string{
		"Patient?family=nowak":                                {stored, both, maiden},
		"Patient?name=NOW":                                    {stored, both, maiden, prefixed},
		"Patient?name=NOW&birthdate=1970-05-17":               {both, maiden},
		"Patient?family:contains=nowak":                       {stored, both, other, maiden},
		"Patient?family:exact=Nowak":                          {stored, both, maiden},
		"Patient?given=nova":                                  {other},
		"Patient?name=nov%C3%A1k":                             {both},
		"Patient?family=janowak,ito":                          {other, prefixed},
		"Patient?birthdate=1990-01-01":                        {other, "Patient/" + identified},
		"Patient?birthdate=1990-01-01,1984-05-17":             {stored, other, "Patient/" + identified},
		"Patient?birthdate=ge1990-01-01&family=ito":           {prefixed},
		"Patient?name=" + strings.Repeat("x", 300):            nil,
		"Condition?patient.family=nowak":                      {conditions[1], conditions[0]},
		"Condition?patient.birthdate=1970-05-17":              {conditions[0]},
		"Condition?patient.name=berta&patient.name=nowak":     {conditions[0]},
		"Patient?family=nowak&given=ada&birthdate=1984-05-17": {stored},
	} {
		for _, count := range []string{"1", "2", "50"} {
			got := c.search(query + "&_count=" + count)
			slices.Sort(got.ids)
			if expected := slices.Sorted(slices.Values(want)); !slices.Equal(got.ids, expected) {
				t.Errorf("%s, %s on a page: %v, want %v", query, count, got.ids, expected)
			}
		}
		if got := c.search(query + "&_total=accurate"); int(got.total) != len(want) {
			t.Errorf("%s: %v in total, want %d", query, got.total, len(want))
		}
	}
	if got := c.search("Patient?family=nowak"); !slices.Equal(got.ids, []string{stored, both, maiden}) {
		t.Errorf("in the order %v", got.ids)
	}
}
