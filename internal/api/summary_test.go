package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/storetest"
)

// records adds records "TIME TYPE VALUE" for a patient, bypassing the API, and
// returns their identifiers.
func (c *caller) records(patient string, lines ...string) (ids []id.Record) {
	c.tb.Helper()
	patientID, err := id.Parse[id.PatientKind](patient)
	if err != nil {
		c.tb.Fatal(err)
	}
	var records []pain.Record
	for _, line := range lines {
		words := strings.SplitN(line, " ", 3)
		records = append(records, storetest.Record(c.tb, patientID, `{"recorded_at":"`+words[0]+`","data_type":"`+words[1]+`","value":`+words[2]+`}`))
		ids = append(ids, records[len(records)-1].ID)
	}
	o := c.store.For(&access.Principal{Org: c.client.Org, Client: c.client.No})
	if err := storetest.AddRecords(context.Background(), o, patientID, records...); err != nil {
		c.tb.Fatal(err)
	}
	return ids
}

// retract takes a record back.
func (c *caller) retract(patient string, record id.Record) {
	c.tb.Helper()
	patientID, err := id.Parse[id.PatientKind](patient)
	if err != nil {
		c.tb.Fatal(err)
	}
	o := c.store.For(&access.Principal{Org: c.client.Org, Client: c.client.No})
	if _, err := storetest.Correct(context.Background(), o, patientID, record, `{"entered_in_error":true,"reason":"wrong patient"}`); err != nil {
		c.tb.Fatal(err)
	}
}

func (c *caller) summary(patient, query string) (s summary.Summary) {
	c.tb.Helper()
	if err := json.Unmarshal(c.get("/v1/patients/"+patient+"/summary"+query).is(http.StatusOK).body, &s); err != nil {
		c.tb.Fatal(err)
	}
	return s
}

func TestSummary(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient := c.post("/v1/patients", `{"name":"Arlo Finch","date_of_birth":"1950-05-17","medical_history":[{"condition":"Sickle cell","icd10_code":"D57.1"}]}`).
			is(http.StatusCreated).json()["id"].(string)
		ids := c.records(patient,
			`2023-12-30T09:00:00Z pain_scores {"score":7,"aspect":"average"}`,
			`2024-01-25T09:00:00.250Z pain_scores {"score":4,"aspect":"average"}`,
			`2024-01-24 pain_scores 9`,
			`2024-01-01 medications {"name":"Morphine ER","dose":30,"dose_unit":"mg","frequency":"BID","days_supply":30}`,
			`2024-01-21 medications {"name":"oxycodone","strength":5,"strength_unit":"mg","quantity":60,"days_supply":15}`,
			`2024-01-10 medications {"name":"lorazepam","days_supply":30}`,
			`2024-01-10 medications {"name":"gabapentin"}`,
			`2024-01-10 assessments {"instrument":"peg","items":{"1":7,"2":7,"3":6}}`,
			`2024-01-11 assessments {"instrument":"phq_9","items":{"1":1,"9":1}}`,
			`2024-01-12 procedures {"procedure_type":"nerve_block","pre_score":8,"body_site":"knee"}`,
			`2024-01-13 adverse_events {"event":"overdose","grade":3}`,
			`2024-01-14 vitals {"heart_rate":70}`,
		)
		s := c.summary(patient, "?as_of=2024-01-25")
		if s.PatientID != patient || s.AsOf != "2024-01-25" || *s.Pain.Aspect != "average" || s.Pain.Scores != 2 || s.Pain.Latest.RecordedAt != "2024-01-25T09:00:00.250Z" || *s.Pain.Change.Percent != -42.86 {
			t.Errorf("%+v", s)
		}
		if len(s.Medications.Current) != 4 || s.Medications.Current[0].RecordID != ids[3].String() || *s.MME.Current != 90 || *s.MME.Peak != 90 || len(s.MME.Timeline) != 2 || s.MME.Caveat != summary.Caveat {
			t.Errorf("%+v, %+v", s.Medications, s.MME)
		}
		if len(s.Instruments) != 2 || *s.Instruments[0].Score != 6.7 || len(s.Procedures) != 1 || s.Procedures[0].RecordID != ids[9].String() {
			t.Errorf("%+v, %+v", s.Instruments, s.Procedures)
		}
		for _, f := range s.Flags {
			if f.Active == nil || !*f.Active {
				t.Errorf("%s is %v, by %v", f.Flag, f.Active, f.Basis)
			}
		}
		if len(s.Flags) != 7 {
			t.Errorf("%d flags", len(s.Flags))
		}

		// What is taken back is gone, at once.
		for _, record := range []id.Record{ids[1], ids[3], ids[4], ids[7], ids[9]} {
			c.retract(patient, record)
		}
		s = c.summary(patient, "?as_of=2024-01-25")
		if s.Pain.Scores != 1 || s.Pain.Change != nil || *s.MME.Peak != 0 || len(s.MME.Timeline) != 0 || len(s.Instruments) != 1 || len(s.Procedures) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestSummaryOfNothing(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		s := c.summary(c.create("Arlo Finch"), "")
		if s.Pain.Aspect != nil || s.Pain.Latest != nil || s.MME.Average != nil || s.AsOf != pain.DateOf(n.clock.now()).String() {
			t.Errorf("%+v", s)
		}
	})
}

func TestSummaryIsRefused(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, other := n.caller("north"), n.caller("north", access.AllScopes&^access.ClinicalDataRead)
		patient := c.create("Arlo Finch")
		path := "/v1/patients/" + patient + "/summary"
		tomorrow := pain.DateOf(n.clock.now().Add(25 * time.Hour)).String()
		for _, day := range []string{"2024-02-30", "yesterday", "", "2024-1-1", "0000-01-01", tomorrow} {
			r := c.get(path + "?as_of=" + day)
			r.wrong("as_of", day)
			if !strings.Contains(r.message(), "YYYY-MM-DD") {
				t.Errorf("%q: %s", day, r.message())
			}
		}
		c.get(path+"?date=2024-02-01").wrong("date", "2024-02-01")
		c.get("/v1/patients/pat_01kf0k8y20a14c3emmv2g2jemj/summary").is(http.StatusNotFound)
		c.get("/v1/patients/x/summary").is(http.StatusNotFound)
		c.get("/v1/patients/x/summary?as_of=x").is(http.StatusBadRequest)
		c.post(path, "{}").is(http.StatusMethodNotAllowed)
		if got := other.get(path).fault(http.StatusForbidden, fault.Forbidden)["required_scope"]; got != "clinical_data:read" {
			t.Errorf("it asks for %v", got)
		}
	})
}

func TestSummaryLeavesALine(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		patient := c.create("Arlo Finch")
		c.get("/v1/patients/"+patient+"/summary", "X-Request-Id", "the-summary").is(http.StatusOK)
		got := line(t, c.audit("&patient_id="+patient, 2), "the-summary")
		if got["action"] != string(audit.ClinicalRead) || got["resource"] != patient {
			t.Errorf("%v", got)
		}
	})
}
