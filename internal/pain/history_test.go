package pain

import (
	"slices"
	"strings"
	"testing"
)

func TestHistoryRules(t *testing.T) {
	rep := strings.Repeat
	const date = " must be a real date in the form YYYY, YYYY-MM or YYYY-MM-DD."
	for _, c := range []struct {
		entry string // in JSON
		fault string // what follows medical_history[1]; "" when it is accepted
	}{
		{`"Gout"`, ""},
		{`""`, ` "" medical_history[1] must not be blank.`},
		{`" "`, ` " " medical_history[1] must not be blank.`},
		{`"` + rep("x", 501) + `"`, ` "` + rep("x", 200) + `…" medical_history[1] must have at most 500 characters.`},
		{`null`, ` null medical_history[1] must be an object, or a string that names the condition.`},
		{`[]`, ` [] medical_history[1] must be an object, or a string that names the condition.`},
		{`{}`, `.condition null medical_history[1].condition is required.`},
		{`{"condition":""}`, `.condition "" medical_history[1].condition is required.`},
		{`{"condition":" "}`, `.condition " " medical_history[1].condition must not be blank.`},
		{`{"condition":1}`, `.condition 1 medical_history[1].condition must be a string.`},
		{`{"condition":"` + rep("é", 500) + `"}`, ""},
		{`{"condition":"a\nb"}`, `.condition "a\nb" medical_history[1].condition must not contain control characters or line breaks.`},
		{with(`"icd10_code":"M54"`), ""},
		{with(`"icd10_code":"G89.29"`), ""},
		{with(`"icd10_code":"C7A.010"`), ""},
		{with(`"icd10_code":"m54.5"`), `.icd10_code "m54.5" medical_history[1].icd10_code must be an ICD-10 code such as M54.50.`},
		{with(`"icd10_code":"M54."`), `.icd10_code "M54." medical_history[1].icd10_code must be an ICD-10 code such as M54.50.`},
		{with(`"icd10_code":"M54.50\n"`), `.icd10_code "M54.50\n" medical_history[1].icd10_code must be an ICD-10 code such as M54.50.`},
		{with(`"snomed_code":"` + rep("1", 50) + `"`), ""},
		{with(`"snomed_code":"` + rep("1", 51) + `"`), `.snomed_code "` + rep("1", 51) + `" medical_history[1].snomed_code must have at most 50 characters.`},
		{with(`"onset_date":"2019"`), ""},
		{with(`"onset_date":"2019-06"`), ""},
		{with(`"onset_date":"2020-02-29"`), ""},
		{with(`"onset_date":""`), ""},
		{with(`"onset_date":"2019-13"`), `.onset_date "2019-13" medical_history[1].onset_date` + date},
		{with(`"onset_date":"2019-02-29"`), `.onset_date "2019-02-29" medical_history[1].onset_date` + date},
		{with(`"onset_date":"0000"`), `.onset_date "0000" medical_history[1].onset_date` + date},
		{with(`"onset_date":2019`), `.onset_date 2019 medical_history[1].onset_date` + date},
		{with(`"resolved_date":"20"`), `.resolved_date "20" medical_history[1].resolved_date` + date},
		{with(`"onset_date":"2019-06","resolved_date":"2019"`), ""},
		{with(`"onset_date":"2019-06-30","resolved_date":"2019-06"`), ""},
		{with(`"onset_date":"2019-06-30","resolved_date":"2019-06-29"`), `.resolved_date "2019-06-29" medical_history[1].resolved_date must not be before onset_date.`},
		{with(`"onset_date":"2019-06","resolved_date":"2018"`), `.resolved_date "2018" medical_history[1].resolved_date must not be before onset_date.`},
		{with(`"status":"remission"`), ""},
		{with(`"status":"Active"`), `.status "Active" medical_history[1].status must be one of active, recurrence, relapse, inactive, remission, resolved.`},
		{with(`"severity":"` + rep("x", 51) + `"`), `.severity "` + rep("x", 51) + `" medical_history[1].severity must have at most 50 characters.`},
		{with(`"category":"substance_use"`), ""},
		{with(`"category":"other"`), `.category "other" medical_history[1].category must be one of pain, psychiatric, substance_use, medical, surgical, family.`},
		{with(`"notes":"a\r\n\tb"`), ""},
		{with(`"notes":"a\u0007"`), `.notes "a\u0007" medical_history[1].notes must not contain control characters.`},
		{with(`"notes":"` + rep("x", 5001) + `"`), `.notes "` + rep("x", 200) + `…" medical_history[1].notes must have at most 5000 characters.`},
		{with(`"icd_10_code":"M54"`), `.icd_10_code "M54" Unknown field. Did you mean "icd10_code"?`},
	} {
		t.Run(c.entry, func(t *testing.T) {
			body := `{"name":"A","date_of_birth":"2000-01-01","medical_history":["First",` + c.entry + `]}`
			_, err := NewPatient(parse(t, body), testID, testNow)
			want := c.fault
			if want != "" {
				want = "medical_history[1]" + want
			}
			if got := strings.Join(noted(t, err), "; "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func with(member string) string { return `{"condition":"Pain",` + member + `}` }

func TestHistoryLength(t *testing.T) {
	body := func(n int) string {
		return `{"name":"A","date_of_birth":"2000-01-01","medical_history":[` + strings.Repeat(`"x",`, n-1) + `"x"]}`
	}
	if entries, err := create(t, body(500)).MedicalHistory.Entries(); err != nil || len(entries) != 500 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	_, err := NewPatient(parse(t, body(501)), testID, testNow)
	if got := noted(t, err); len(got) != 1 || !strings.HasSuffix(got[0], "medical_history must have at most 500 entries.") {
		t.Fatalf("got %q", got)
	}
	_, err = NewPatient(parse(t, `{"name":"A","date_of_birth":"2000-01-01","medical_history":{}}`), testID, testNow)
	if got := noted(t, err); len(got) != 1 || got[0] != "medical_history {} medical_history must be an array." {
		t.Fatalf("got %q", got)
	}
}

func TestHistoryStored(t *testing.T) {
	full := HistoryEntry{"a\"b", "M54.50", "161891005", "2019", "2020-01", "resolved", "mild", "pain", "line\nline"}
	h := NewHistory(full, HistoryEntry{Condition: "Gout"})
	want := `[{"condition":"a\"b","icd10_code":"M54.50","snomed_code":"161891005","onset_date":"2019","resolved_date":"2020-01",` +
		`"status":"resolved","severity":"mild","category":"pain","notes":"line\nline"},{"condition":"Gout"}]`
	if h.JSON() != want {
		t.Fatalf("stored as %s", h.JSON())
	}
	back := StoredHistory(h.JSON())
	entries, err := back.Entries()
	if err != nil || back != h || !slices.Equal(entries, []HistoryEntry{full, {Condition: "Gout"}}) {
		t.Fatalf("got %v, %v", entries, err)
	}
	if h := StoredHistory("[]"); h != NewHistory() || h.JSON() != "[]" {
		t.Fatalf("empty: %+v", h)
	}
	if entries, err := (History{}).Entries(); err != nil || len(entries) != 0 {
		t.Fatalf("empty: %v, %v", entries, err)
	}
	if _, err := StoredHistory("{").Entries(); err == nil {
		t.Fatal("damaged text was decoded")
	}
}
