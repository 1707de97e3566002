package importer

import (
	"strings"
	"testing"
)

func TestBodies(t *testing.T) {
	for _, c := range []struct{ kind, header, row, want string }{
		{"patients", "name,date_of_birth", "Ada,1984-05-17", `{"date_of_birth":"1984-05-17","name":"Ada"}`},
		{"patients", "Date of Birth,NAME", "1984-05-17, Ada ", `{"date_of_birth":"1984-05-17","name":"Ada"}`},
		{"patients", "dob,First Name,last-name", "1984-05-17,Ada,Nowak", `{"date_of_birth":"1984-05-17","name":"Ada Nowak"}`},
		{"patients", "surname,forename,born", "Nowak,Ada,1984", `{"date_of_birth":"1984","name":"Ada Nowak"}`},
		{"patients", "E-Mail,Phone,Sex", "a@example.org,1,f", `{"contact":{"email":"a@example.org","phone":"1"},"gender":"f"}`},
		{"patients", "contact.email,contact_phone", ",1", `{"contact":{"phone":"1"}}`},
		{"patients", "MRN,name", "17,Ada", `{"name":"Ada"}`},
		{"patients", "condition,ICD-10", "Back pain,M54.50", `{"medical_history":[{"condition":"Back pain","icd10_code":"M54.50"}]}`},
		{"patients", "condition_1,icd10_1,condition_2,ICD10 2", "a,b,c,", `{"medical_history":[{"condition":"a","icd10_code":"b"},{"condition":"c"}]}`},
		{"patients", "Diagnosis1,Diagnosis2,Diagnosis10", "a,,c", `{"medical_history":[{"condition":"a"},{"condition":"c"}]}`},
		{"patients", "medical_history", "a | b|", `{"medical_history":["a","b"]}`},
		{"patients", "medical_history", `[{"condition":"a"}]`, `{"medical_history":[{"condition":"a"}]}`},
		{"patients", "name,error_line,error_message", "Ada,3,wrong", `{"name":"Ada"}`},
		{"patients", "name", "", `{}`},
		{"clinical", "patient_id,data_type,date,score", "p,pain_scores,2026-01-15,7", `{"data_type":"pain_scores","recorded_at":"2026-01-15","value":{"score":7}}`},
		{"clinical", "patient_id,data_type,score,scale", "p,pain_scores,seven,vas", `{"data_type":"pain_scores","value":{"scale":"vas","score":"seven"}}`},
		{"clinical", "patient_id,data_type,value", "p,pain_scores,7", `{"data_type":"pain_scores","value":7}`},
		{"clinical", "patient_id,data_type,value", `p,pain_scores,{"score":7}`, `{"data_type":"pain_scores","value":{"score":7}}`},
		{"clinical", "patient_id,data_type,value,unit,loinc", "p,labs,1.5,mg/dL,2160-0", `{"data_type":"labs","value":{"loinc":"2160-0","unit":"mg/dL","value":1.5}}`},
		{"clinical", "patient_id,data_type,value,score", "p,pain_scores,7,6", `{"data_type":"pain_scores","value":{"score":6,"value":7}}`},
		{"clinical", "patient_id,data_type,value,measure", "p,functional_status,every_day,limits_life_or_work", `{"data_type":"functional_status","value":{"measure":"limits_life_or_work","value":"every_day"}}`},
		{"clinical", "mrn,data_type,drug,dose,Dose Unit,prn", "1,medications,morphine,10,mg,yes", `{"data_type":"medications","value":{"dose":10,"dose_unit":"mg","name":"morphine","prn":true}}`},
		{"clinical", "mrn,data_type,quality", "1,pain_scores,burning|dull", `{"data_type":"pain_scores","value":{"quality":["burning","dull"]}}`},
		{"clinical", "mrn,data_type,quality", "1,sleep,7", `{"data_type":"sleep","value":{"quality":7}}`},
		{"clinical", "mrn,data_type,value.breakthrough.peak,breakthrough_trigger", "1,pain_scores,9,incident", `{"data_type":"pain_scores","value":{"breakthrough":{"peak":9,"trigger":"incident"}}}`},
		{"clinical", "mrn,data_type,instrument,item1,Item 2,value.items.3", "1,assessments,peg,7,8,no", `{"data_type":"assessments","value":{"instrument":"peg","items":{"1":7,"2":8,"3":false}}}`},
		{"clinical", "mrn,data_type,steps,text", "1,activity,1e3,", `{"data_type":"activity","value":{"steps":1e3}}`},
		{"clinical", "mrn,data_type,steps", "1,activity,01", `{"data_type":"activity","value":{"steps":"01"}}`},
		{"clinical", "mrn,data_type,steps", "1,nonsense,7", `{"data_type":"nonsense","value":{"steps":"7"}}`},
	} {
		t.Run(c.header+"/"+c.row, func(t *testing.T) {
			m, err := newMapping(Kind(c.kind), strings.Split(c.header, ","), nil, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			fields := strings.Split(c.row, ",")
			if strings.Contains(c.row, "{") { // has its own commas
				fields = strings.SplitN(c.row, ",", m.columns)
			}
			e, problem := m.entry(fields)
			if problem != "" || string(e.body) != c.want {
				t.Errorf("got  %s %s\nwant %s", e.body, problem, c.want)
			}
		})
	}
}

func TestReferencesAreNoMembers(t *testing.T) {
	m, err := newMapping(Clinical, []string{"External ID", "Patient", "type"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.entry([]string{" 17 ", "pat_x", "notes"})
	if e.external != "17" || e.patient != "pat_x" || string(e.body) != `{"data_type":"notes"}` {
		t.Errorf("got %+v, %s", e, e.body)
	}
	if _, problem := m.entry([]string{"17"}); !strings.Contains(problem, "1 fields, the header 3") {
		t.Errorf("a short row: %q", problem)
	}
}

func TestRenames(t *testing.T) {
	renames, err := ParseRenames([]string{"Geburtstag=dob", " Bett =", "id=external_id"})
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, 3)
	m, err := newMapping(Patients, []string{"Name", "geburts-tag", "Bett", "id"}, renames, used, "")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.entry([]string{"Ada", "1984-05-17", "12", "A1"})
	if string(e.body) != `{"date_of_birth":"1984-05-17","name":"Ada"}` || e.external != "A1" || !used[0] || !used[1] || !used[2] {
		t.Errorf("got %s, %+v, %v", e.body, e, used)
	}
	for _, text := range []string{"a", "=b", " =b"} {
		if _, err := ParseRenames([]string{text}); err == nil {
			t.Errorf("%q is taken for a rename", text)
		}
	}
}

func TestFaultsOfHeaders(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		header string
		want   []string
	}{
		{Patients, "name,date_of_brith", []string{`column "date_of_brith"`, "did you mean date_of_birth", `--map "date_of_brith="`}},
		{Patients, "name,dob,Ward,Bed", []string{`column "Ward"`, `column "Bed"`}},
		{Patients, "dob,Date of Birth", []string{`columns "dob" and "Date of Birth" both map to date_of_birth`}},
		{Patients, "name,first name", []string{"the whole name"}},
		{Patients, "medical_history,condition", []string{"medical_history and for its fields"}},
		{Clinical, "data_type,score", []string{"want patient_id, external_id or identifier:SYSTEM"}},
		{Clinical, "mrn,score", []string{"use --data-type"}},
		{Clinical, "mrn,data_type,scroe", []string{"did you mean score"}},
		{Clinical, "mrn,data_type,score,value.score", []string{"both map to value.score"}},
	} {
		_, err := newMapping(c.kind, strings.Split(c.header, ","), nil, nil, "")
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", c.header, err, part)
			}
		}
	}
}

func TestGuess(t *testing.T) {
	for header, want := range map[string]Kind{
		"name,dob": Patients, "mrn,first name,last name,birth date": Patients, "mrn,data_type": Clinical, "patient_id,score": Clinical, "mrn,date,text": Clinical, "mrn,name": "",
	} {
		if got, _ := guess(strings.Split(header, ","), nil); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

func TestEveryMemberHasAColumn(t *testing.T) {
	for dataType, list := range valueMembers() {
		for path, f := range list {
			if f == asObject {
				continue
			}
			if got, _, ok := resolve(Clinical, "value."+path); !ok || got != "value."+path {
				t.Errorf("%s: value.%s is %q", dataType, path, got)
			}
		}
	}
}
