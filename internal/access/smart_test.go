package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMayFHIRByScopes(t *testing.T) {
	for _, test := range []struct {
		scopes Scopes
		name   string
		want   string
	}{
		{PatientsRead, "Patient", "rs"},
		{PatientsRead, "Condition", "rs"},
		{PatientsRead, "Group", "rs"},
		{PatientsRead, "Observation", ""},
		{PatientsWrite, "Patient", "cu"},
		{PatientsErase, "Patient", "d"},
		{PatientsErase, "Condition", ""},
		{ClinicalDataRead, "Patient", ""},
		{ClinicalDataRead | ClinicalDataWrite, "Observation", "cruds"},
		{ClinicalDataRead, "Provenance", "rs"},
		{0, "Questionnaire", "rs"},
		{AllScopes, "Questionnaire", "rs"},
		{AllScopes, "Encounter", ""},
		{AllScopes, "", ""},
		{AllScopes, "*", ""},
	} {
		p := &Principal{Scopes: test.scopes}
		if got := may(p, test.name); got != test.want {
			t.Errorf("%q may %q with %s, want %q", test.scopes, got, test.name, test.want)
		}
	}
}

// may returns the letters of what a principal may do with a type.
func may(p *Principal, name string) string {
	var all FHIRVerbs
	for v := FHIRCreate; v <= FHIRSearch; v <<= 1 {
		if p.MayFHIR(name, v) {
			all |= v
		}
	}
	return all.String()
}

func TestSMARTScopes(t *testing.T) {
	const both = PatientsRead | ClinicalDataRead
	for _, test := range []struct {
		asked   string
		client  Scopes
		missing Scopes
		// scopes, and the letters for Patient, Observation and
		// MedicationRequest, are what the token permits.
		scopes                            Scopes
		patient, observation, prescribing string
	}{
		{"system/Observation.rs", AllScopes, 0, 0, "", "rs", ""},
		{"system/Observation.r", AllScopes, 0, 0, "", "r", ""},
		{"system/Observation.read", AllScopes, 0, 0, "", "rs", ""},
		{"system/*.rs", AllScopes, 0, both, "rs", "rs", "rs"},
		{"system/*.read", AllScopes, 0, both, "rs", "rs", "rs"},
		{"system/*.r", AllScopes, 0, 0, "r", "r", "r"},
		{"system/*.rs", both, 0, both, "rs", "rs", "rs"},
		{"system/*.rs", PatientsRead, ClinicalDataRead, 0, "", "", ""},
		{"system/Observation.rs", PatientsRead, ClinicalDataRead, 0, "", "", ""},
		{"system/Patient.rs system/Condition.rs system/Group.rs", AllScopes, 0, PatientsRead, "rs", "", ""},
		{"system/Patient.rs system/Condition.rs", AllScopes, 0, 0, "rs", "", ""},
		{"system/Patient.rs patients:write", AllScopes, 0, PatientsWrite, "crus", "", ""},
		{"system/Patient.cruds", AllScopes, 0, PatientsErase, "cruds", "", ""},
		{"system/Patient.cruds", DefaultScopes, PatientsErase, 0, "", "", ""},
		{"system/Patient.write", DefaultScopes, 0, 0, "cu", "", ""},
		{"system/*.*", DefaultScopes, 0, both | PatientsWrite | ClinicalDataWrite, "crus", "cruds", "cruds"},
		{"system/*.cruds", DefaultScopes, PatientsErase, 0, "", "", ""},
		{"system/*.crus", DefaultScopes, 0, both, "crus", "crus", "crus"},
		{"system/Questionnaire.rs", 0, 0, 0, "", "", ""},
		{"system/Observation.rs analytics:read", AllScopes, 0, AnalyticsRead, "", "rs", ""},
	} {
		asked, err := ParseAsked(test.asked)
		if err != nil {
			t.Errorf("%q: %v", test.asked, err)
			continue
		}
		if missing := asked.Missing(test.client); missing != test.missing {
			t.Errorf("%q of %q lacks %q, want %q", test.asked, test.client, missing, test.missing)
		}
		var p Principal
		p.Scopes, p.SMART = asked.Permits(test.client)
		if p.Scopes != test.scopes {
			t.Errorf("%q of %q amounts to %q, want %q", test.asked, test.client, p.Scopes, test.scopes)
		}
		for name, want := range map[string]string{"Patient": test.patient, "Observation": test.observation, "MedicationRequest": test.prescribing} {
			if got := may(&p, name); got != want {
				t.Errorf("%q of %q may %q with %s, want %q", test.asked, test.client, got, name, want)
			}
		}
	}
}

func TestUnknownSMARTScopes(t *testing.T) {
	for _, word := range []string{
		"system/Encounter.rs", "patient/Patient.rs", "user/*.rs", "system/Patient.", "system/Patient", "system/.rs", "system/Patient.sr", "system/Patient.rr",
		"system/Patient.rx", "system/Patient.rs?gender=male", "system/patient.rs", "System/Patient.rs", "system/Questionnaire.c", "system/Questionnaire.write",
		"system/Patient.READ", "system/*", "system/**.rs", "launch", "openid",
	} {
		if asked, err := ParseAsked("patients:read " + word); err == nil {
			t.Errorf("%q is taken as %v", word, asked)
		} else if !strings.Contains(err.Error(), word) {
			t.Errorf("%q: error %q does not name it", word, err)
		}
	}
}

func TestAskedKeepsItsWords(t *testing.T) {
	asked, err := ParseAsked(" system/*.rs audit:read system/Patient.read  patients:read system/*.rs")
	if want := "patients:read audit:read system/*.rs system/Patient.read"; err != nil || asked.String() != want {
		t.Fatalf("%q, %v; want %q", asked, err, want)
	}
	if left := asked.Within(PatientsRead).String(); left != "patients:read system/Patient.read" {
		t.Fatalf("with patients:read alone, %q is left", left)
	}
}

// TestSMARTScopesAreBounded checks for all combinations that a token permits
// neither more than its client nor more than was asked for.
func TestSMARTScopesAreBounded(t *testing.T) {
	words := append(SMARTScopes(), "system/*.read", "system/*.write", "system/*.*", "system/Patient.write", "system/Group.cu", "system/Observation.d")
	words = append(words, AllScopes.Names()...)
	rapid.Check(t, func(t *rapid.T) {
		client := Scopes(rapid.Uint32Range(0, uint32(AllScopes)).Draw(t, "client"))
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(t, "asked"), " ")
		asked, err := ParseAsked(text)
		if err != nil {
			t.Fatal(err)
		}
		var p Principal
		p.Scopes, p.SMART = asked.Permits(client)
		if !client.Has(p.Scopes) {
			t.Fatalf("%q amounts to %q, more than %q", text, p.Scopes, client)
		}
		whole := &Principal{Scopes: client}
		said := &Principal{Scopes: asked.Scopes}
		for word := range strings.FieldsSeq(asked.SMART) {
			w, _ := parseSMART(word)
			for i, v := range w.permits {
				said.SMART[i] |= v
			}
		}
		for _, name := range FHIRTypes() {
			for v := FHIRCreate; v <= FHIRSearch; v <<= 1 {
				if p.MayFHIR(name, v) && !(whole.MayFHIR(name, v) && said.MayFHIR(name, v)) {
					t.Fatalf("%q of a client with %q may %s %s", text, client, v, name)
				}
			}
		}
		if asked.Missing(client) == 0 && asked.Within(client).String() != asked.String() {
			t.Fatalf("%q is granted to %q and shown as %q", text, client, asked.Within(client))
		}
		again, err := ParseAsked(asked.String())
		if err != nil || again.String() != asked.String() {
			t.Fatalf("%q is read back as %q, %v", asked, again, err)
		}
	})
}
