package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What is found in the dictionary is held by its own tests; here it is about
// the answer.
func TestLookUpMedication(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		look := func(query ...string) map[string]any {
			t.Helper()
			values := url.Values{}
			for i := 0; i < len(query); i += 2 {
				values.Set(query[i], query[i+1])
			}
			return c.get("/v1/reference/medications/lookup?" + values.Encode()).is(http.StatusOK).json()["data"].(map[string]any)
		}
		for _, found := range []struct {
			query                    []string
			class, basis, ingredient string
			strength                 any
		}{
			{[]string{"name", "MS Contin 100 mg ER tab"}, "opioid", "brand", "morphine", 100.0},
			{[]string{"name", "oxycodone-acetaminophen 10/325"}, "opioid", "name", "oxycodone", 10.0},
			{[]string{"name", "Restoril"}, "benzodiazepine", "brand", "temazepam", nil},
			{[]string{"rxnorm", "208464"}, "benzodiazepine", "rxnorm", "temazepam", 15.0},
			{[]string{"ndc", "00140000401"}, "benzodiazepine", "ndc", "diazepam", nil},
			{[]string{"name", "lisinopril 10 mg"}, "other", "name", "lisinopril", 10.0},
			{[]string{"name", "oxycodne"}, "unclassified", "none", "", nil},
		} {
			got := look(found.query...)
			if got["class"] != found.class || got["basis"] != found.basis || got["understood"] != (found.class != "unclassified") || len(got["why"].([]any)) == 0 {
				t.Errorf("%v: %v", found.query, got)
			}
			for _, in := range got["ingredients"].([]any) {
				in := in.(map[string]any)
				if in["name"] == found.ingredient && found.strength != nil && in["strength"] != found.strength {
					t.Errorf("%v: %v", found.query, in)
				}
			}
			if text := found.ingredient; text != "" && !strings.Contains(string(c.get("/v1/reference/medications/lookup?"+url.Values{found.query[0]: {found.query[1]}}.Encode()).body), text) {
				t.Errorf("%v lacks %s", found.query, text)
			}
		}
		if got := look("name", "oxycodne"); len(got["suggestions"].([]any)) == 0 {
			t.Errorf("no suggestion: %v", got)
		}
		if got := look("name", "oxycodone", "rxnorm", "7052"); got["contradiction"] != true {
			t.Errorf("morphine's code with oxycodone's name: %v", got)
		}
		const path = "/v1/reference/medications/lookup"
		c.get(path).wrong("name", "")
		c.get(path+"?name=").wrong("name", "")
		c.get(path+"?rxnorm=abc").wrong("rxnorm", "abc")
		c.get(path+"?ndc=12345-678-90-x").wrong("ndc", "12345-678-90-x")
		c.get(path+"?drug=x").wrong("drug", "x")
		c.post(path, `{}`).is(http.StatusMethodNotAllowed)
		n.send("GET", path+"?name=x", "").is(http.StatusUnauthorized)
	})
}
