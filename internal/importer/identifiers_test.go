package importer_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/importer"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// identifiers lists the identifiers of the patients as SYSTEM|VALUE.
func (p *place) identifiers() (all []string) {
	p.t.Helper()
	for _, patient := range p.patients() {
		list, err := patient.Identifiers.List()
		if err != nil {
			p.t.Fatal(err)
		}
		var texts []string
		for _, one := range list {
			texts = append(texts, one.System+"|"+one.Value)
		}
		all = append(all, strings.Join(texts, " "))
	}
	return all
}

func dryRun(c *importer.Config) { c.DryRun = true }

func TestIdentifiersInBothFormats(t *testing.T) {
	each(t, func(p *place) {
		table := p.file("p.csv", "MRN,Name,dob,identifier:lab,Identifier: https://example.org/ids,Station",
			"1,Ada,1984-05-17,L-1,u1,", ",Bo,1984-05-17,,u2,S2", "3,Cy,1984-05-17,,,", ",Di,1984-05-17,,,")
		lines := p.file("p.ndjson", `{"external_id":4,"name":"Ed","date_of_birth":"1970-01-01","identifier:lab":"L-4"}`,
			`{"identifier:lab":5,"identifier:ward":null,"name":"Flo","date_of_birth":"1970-01-01"}`,
			`{"name":"Gus","date_of_birth":"1970-01-01","identifiers":[{"system":"x","value":"y"}]}`)
		mapped := func(dry bool) func(*importer.Config) {
			return func(c *importer.Config) {
				c.DryRun, c.Renames = dry, []importer.Rename{{Column: "Station", Member: "identifier:station"}}
			}
		}
		p.run("4 0 0", mapped(true), table)
		p.run("4 0 0", mapped(false), table)
		p.run("3 0 0", nil, lines)
		p.run("0 4 0", mapped(false), table)
		p.run("0 3 0", nil, lines)
		p.run("0 3 0", dryRun, lines)
		want := []string{"https://example.org/ids|u1 lab|L-1 external_id|1", "https://example.org/ids|u2 station|S2", "external_id|3", "",
			"lab|L-4 external_id|4", "lab|5", "x|y"}
		if got := p.identifiers(); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}

		scores := p.file("c.csv", "identifier:lab,MRN,patient_id,date,score", "L-1,,,2026-01-01,1", ",1,,2026-01-01,2", "L-1,1,,2026-01-01,3", "L-9,,,2026-01-01,4", ",,,2026-01-01,5", "5,,,2026-01-01,1")
		score := func(dry bool) func(*importer.Config) {
			return func(c *importer.Config) { c.DryRun, c.DataType = dry, "pain_scores" }
		}
		p.run("3 0 3", score(true), scores)
		done := p.run("3 0 3", score(false), scores)
		p.run("0 3 3", score(false), scores)
		text, err := os.ReadFile(done[0].Errors)
		for _, want := range []string{"Only one of patient_id, external_id and the identifiers may be given.", "identifier:lab,There is no patient with this identifier.", "patient_id, external_id or an identifier is required."} {
			if !strings.Contains(string(text), want) || err != nil {
				t.Errorf("errors without %q: %s, %v", want, text, err)
			}
		}
		p.run("1 0 0", score(false), p.file("c.ndjson", `{"identifier:lab":"5","data_type":"pain_scores","recorded_at":"2026-01-02","value":3}`))
		people := p.patients()
		if got := []int{len(p.records(people[0])), len(p.records(people[5]))}; !slices.Equal(got, []int{2, 2}) {
			t.Errorf("records by identifier: %v", got)
		}
	})
}

// A line with an identifier of a patient that was not imported is recognised
// like one that was.
func TestLinesOfPatientsThatAreThere(t *testing.T) {
	each(t, func(p *place) {
		known := storetest.Patient("Ada")
		known.Gender, known.Contact, known.MedicalHistory = "", pain.Contact{}, pain.History{}
		known.Identifiers = pain.NewIdentifiers(pain.Identifier{System: "lab", Value: "1"}, pain.Identifier{System: "external_id", Value: "7"})
		if _, err := p.org.CreatePatient(t.Context(), &known, storetest.Created(known), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		people := p.file("p.csv", "mrn,name,dob,identifier:lab", "7,Ada,1961-03-14,", ",Ada,1961-03-14,1", ",Eve,1961-03-14,1", "8,Bo,1961-03-14,2", ",Cy,1961-03-14,2")
		p.run("1 2 2", dryRun, people)
		p.run("1 2 2", nil, people)
		done := p.run("0 3 2", nil, people)
		if text, err := os.ReadFile(done[0].Errors); strings.Count(string(text), "Another patient has one of these identifiers") != 2 || err != nil {
			t.Errorf("errors: %s, %v", text, err)
		}
		if got := p.identifiers(); !slices.Equal(got, []string{"lab|1 external_id|7", "lab|2 external_id|8"}) {
			t.Errorf("%q", got)
		}
	})
}

// Patients imported before there were identifiers are recognised.
func TestImportedBeforeIdentifiers(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17", "2,Bo,1984-05-17")
		p.run("2 0 0", nil, people)
		storetest.Exec(t, p.s, `DELETE FROM patient_identifier`)
		storetest.Exec(t, p.s, `UPDATE patient SET identifiers = ''`)
		for name, external := range map[string]string{"Ada": "1", "Bo": "2"} {
			key := patients.ExternalKey(external)
			storetest.Exec(t, p.s, `UPDATE import_key SET key_hash = $1 WHERE patient_id = (SELECT id FROM patient WHERE name = $2)`, key[:], name)
		}
		p.run("0 2 0", dryRun, people)
		p.run("0 2 0", nil, people)
		p.run("0 0 1", nil, p.file("q.csv", "mrn,name,dob", "1,Eve,1984-05-17"))
		p.run("1 0 0", func(c *importer.Config) { c.DataType = "pain_scores" }, p.file("c.csv", "mrn,date,score", "2,2026-01-01,1"))

		one := pain.Identifier{System: "external_id", Value: "1"}
		if _, err := p.org.PutPatient(t.Context(), one, time.Now(), nil, func(old *pain.Patient) (patients.Put, error) {
			if old == nil || old.Name != "Ada" {
				return patients.Put{}, fmt.Errorf("an old import is not found by its number: %v", old)
			}
			updated := *old
			err := updated.Identify(one)
			c := storetest.Updated(updated)
			return patients.Put{Patient: updated, Change: &c}, err
		}); err != nil {
			t.Fatal(err)
		}
		if got := p.identifiers(); !slices.Equal(got, []string{"external_id|1", ""}) {
			t.Errorf("%q", got)
		}
	})
}

func TestWrongIdentifiers(t *testing.T) {
	each(t, func(p *place) {
		long := strings.Repeat("1", 201)
		done := p.run("0 0 3", nil, p.file("p.csv", "mrn,name,dob,identifier:lab", long+",Ada,1984-05-17,", "a\u200b,Bo,1984-05-17,", ",Cy,1984-05-17,"+long))
		text, err := os.ReadFile(done[0].Errors)
		for _, want := range []string{"external_id has a value that must have at most 200 characters.", "external_id has a value that must have printable characters only.", "identifiers[0].value must have at most 200 characters."} {
			if !strings.Contains(string(text), want) || err != nil {
				t.Errorf("errors without %q: %s, %v", want, text, err)
			}
		}
	})
}
