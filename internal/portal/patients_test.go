package portal

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
)

// org is the view of an organisation with a client of its own.
func (h *house) org(name string) store.Org {
	h.t.Helper()
	p := storetest.Client(h.t, h.store, name)
	return h.store.For(&p)
}

func TestPatientsAreListedAndFound(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("ada@clinic.example", "ours", access.Viewer)
		if p := b.get("/portal/patients"); !strings.Contains(p.text, "No patients yet") {
			t.Error("the empty list is not friendly")
		}
		ours, theirs := h.org("ours"), h.org("theirs")
		for i := range pageSize + 5 {
			storetest.AddPatient(t, ours, fmt.Sprintf("Patient %02d", i+1))
		}
		stranger := storetest.AddPatient(t, theirs, "Patient Stranger")
		first := b.get("/portal/patients")
		if n := strings.Count(first.text, `<th scope="row">`); n != pageSize || !strings.Contains(first.text, "Page 1 of 2, 30 in total") {
			t.Errorf("%d rows on the first page", n)
		}
		second := b.get("/portal/patients?page=2")
		if n := strings.Count(second.text, `<th scope="row">`); n != 5 || !strings.Contains(second.text, `href="?page=1"`) {
			t.Errorf("%d rows on the second page", n)
		}
		found := b.get("/portal/patients?search=patient+0")
		if n := strings.Count(found.text, `<th scope="row">`); n != 9 {
			t.Errorf("%d found", n)
		}
		if p := b.get("/portal/patients?search=Stranger"); !strings.Contains(p.text, "No patients found") {
			t.Error("a patient of another organisation is found")
		}
		if p := b.get("/portal/patients/" + stranger.ID.String()); p.status != http.StatusNotFound || strings.Contains(p.text, "Stranger") {
			t.Errorf("another organisation's patient: %d", p.status)
		}
		for _, bad := range []string{"?page=0", "?page=x", "?page=99999999999", "?search=" + strings.Repeat("x", 201)} {
			if p := b.get("/portal/patients" + bad); p.status != http.StatusBadRequest {
				t.Errorf("%.30s: %d", bad, p.status)
			}
		}
	})
}

func TestPatientWithRecordsAndCorrections(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		storeRun(t, h)
		b := h.signedIn("admin@clinic.example", "ours", access.Administrator)
		org := h.org("ours")
		who := storetest.AddPatient(t, org, "Ada Lovelace")
		score := storetest.Record(t, who.ID, `{"data_type":"pain_scores","recorded_at":"2026-01-10","value":{"score":7,"aspect":"average"},"notes":"<b>typed</b>"}`)
		drug := storetest.Record(t, who.ID, `{"data_type":"medications","recorded_at":"2026-01-11","value":{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":60,"days_supply":30,"route":"oral"}}`)
		if err := storetest.AddRecords(t.Context(), org, who.ID, score, drug); err != nil {
			t.Fatal(err)
		}
		correction, err := storetest.Correct(t.Context(), org, who.ID, score.ID, `{"value":{"score":5,"aspect":"average"}}`)
		if err != nil {
			t.Fatal(err)
		}
		path := "/portal/patients/" + who.ID.String()
		p := b.get(path)
		for _, want := range []string{"Ada Lovelace", "pain scores", "oxycodone", "superseded", "amended", correction.New.ID.String()} {
			if !strings.Contains(p.text, want) {
				t.Errorf("the page has no %s", want)
			}
		}
		if p := b.get(path + "?type=medications"); strings.Contains(p.text, "superseded") || !strings.Contains(p.text, "oxycodone") {
			t.Error("the type does not filter")
		}
		if p := b.get(path + "?type=nothing"); p.status != http.StatusBadRequest {
			t.Errorf("an unknown type: %d", p.status)
		}
		p = b.get(path + "/records/" + score.ID.String())
		if old, new := strings.Index(p.text, score.ID.String()), strings.Index(p.text, correction.New.ID.String()); old < 0 || new < old {
			t.Errorf("the history is not in order: %d, %d", old, new)
		}
		if strings.Contains(p.text, "<b>typed</b>") {
			t.Error("notes are not shown as text")
		}
		settle(t, h, b, "clinical_data.read")
		if p := b.get("/portal/audit?action=patient.read"); !strings.Contains(p.text, who.ID.String()) {
			t.Error("looking at a patient left no line")
		}
	})
}

// The page does not mislead: what has ended is not shown as ongoing, a refill
// is not shown as a start, and unknown values are stated.
func TestPatientPageSaysWhatIsKnown(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.signedIn("ada@clinic.example", "ours", access.Viewer)
	org := h.org("ours")
	who := storetest.Patient("Ada Lovelace")
	who.MedicalHistory = pain.NewHistory(
		pain.HistoryEntry{Condition: "Opioid dependence", ICD10Code: "F11.21", Status: "remission", OnsetDate: "2011"},
		pain.HistoryEntry{Condition: "Low back pain", ICD10Code: "M54.50", Status: "active"})
	who.Identifiers = pain.NewIdentifiers(pain.Identifier{System: "mrn", Value: "104-<b>"}, pain.Identifier{System: "lab", Value: "L-7"})
	if _, err := org.CreatePatient(t.Context(), &who, storetest.Created(who), nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	for _, search := range []string{"l-7", "104-%3Cb", "lovelace+ada", "love%C2%ADlace"} {
		if found := b.get("/portal/patients?search=" + search).text; !strings.Contains(found, who.ID.String()) {
			t.Errorf("%s is not found", search)
		}
	}
	if found := b.get("/portal/patients?search=04-").text; strings.Contains(found, who.ID.String()) {
		t.Error("a number is found by its end")
	}
	day := func(ago int) string { return pain.DateOf(h.now().AddDate(0, 0, -ago)).String() }
	var records []pain.Record
	for _, v := range []string{
		`{"name":"MS Contin 100 mg","dose":1,"dose_unit":"tablet","frequency":"TID","quantity":90,"days_supply":30,"start_date":"` + day(40) + `"}`,
		`{"name":"MS Contin 100 mg","dose":1,"dose_unit":"tablet","frequency":"TID","quantity":90,"days_supply":30,"start_date":"` + day(10) + `"}`,
		`{"name":"Ploxaquil","days_supply":30,"start_date":"` + day(5) + `"}`,
		`{"name":"Percocet 5-325","dose":325,"dose_unit":"mg","frequency":"QD","days_supply":30,"start_date":"` + day(5) + `"}`,
	} {
		records = append(records, storetest.RecordAt(t, h.now(), who.ID, `{"data_type":"medications","value":`+v+`}`))
	}
	if err := storetest.AddRecordsAt(t.Context(), org, h.now(), who.ID, records...); err != nil {
		t.Fatal(err)
	}
	page := b.get("/portal/patients/" + who.ID.String()).text
	for _, want := range []string{
		fmt.Sprintf("(%d years)", who.DateOfBirth.Age(pain.DateOf(h.now()))),
		"<dt><bdi>mrn</bdi></dt>", "104-&lt;b&gt;", "L-7",
		"(in remission, since 2011)", "<code>M54.50</code> (active)",
		"1 tablet, TID", `data-label="First start"><time>` + day(40) + "<", `data-label="Last prescribed"><time>` + day(10) + "<",
		"the dose may be that of another ingredient", "≥ 90 MME a day since", "MME a day, as prescribed; incomplete", "medicines not recognised: 1", "unclassified",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestNamesAreShownAsText(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	b := h.signedIn("ada@clinic.example", "ours", access.Viewer)
	org := h.org("ours")
	for _, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `=cmd|' /C calc'!A0`, "\u202etfel ot thgir", "{{.Data}}"} {
		who := storetest.AddPatient(t, org, name)
		for _, path := range []string{"/portal/patients", "/portal/patients?search=" + escape(name), "/portal/patients/" + who.ID.String()} {
			p := b.get(path)
			if p.status != http.StatusOK || strings.Contains(p.text, "<script>alert") || strings.Contains(p.text, "<img src=x") {
				t.Errorf("%s with %q: %d", path, name, p.status)
			}
			if strings.Contains(name, "\u202e") && !strings.Contains(p.text, "<bdi>"+name) {
				t.Errorf("%s: a mark of direction is not kept to itself", path)
			}
		}
	}
}

// The page has the resources that a FHIR client gets, with the configured base.
func TestPatientAsFHIR(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	storeRun(t, h)
	h.pages.FHIR.Base = "https://pain.example.org/fhir"
	b := h.signedIn("admin@clinic.example", "ours", access.Administrator)
	org := h.org("ours")
	who := storetest.Patient("Ada <b>Lovelace</b>")
	who.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: "Low back pain", ICD10Code: "M54.50", Status: "active"})
	if _, err := org.CreatePatient(t.Context(), &who, storetest.Created(who), nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	var records []pain.Record
	for i := range pageSize + 1 {
		records = append(records, storetest.Record(t, who.ID, fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":"2025-12-%02d","value":%d}`, i+1, i%11)))
	}
	if err := storetest.AddRecords(t.Context(), org, who.ID, records...); err != nil {
		t.Fatal(err)
	}
	path := "/portal/patients/" + who.ID.String()
	p := b.get(path + "/fhir")
	if strings.Contains(p.text, "<b>") || !strings.Contains(p.text, `href="`+path+`"`) {
		t.Error("the name is not shown as text, or there is no link back")
	}
	types := headings.FindAllStringSubmatch(p.text, -1)
	if len(types) != 2+pageSize || types[0][1] != "Patient" || types[1][1] != "Condition" || types[2][1] != "Observation" {
		t.Fatalf("%d resources: %v", len(types), types)
	}
	for i, id := range []string{fhir.ResourceID(who.ID), types[1][2], fhir.ResourceID(records[pageSize].ID), fhir.ResourceID(records[pageSize-1].ID)} {
		if types[i][2] != id {
			t.Errorf("resource %d is %v, want %s", i, types[i], id)
		}
	}
	for _, want := range []string{"{\n  &#34;resourceType&#34;: &#34;Patient&#34;,\n", "https://pain.example.org/fhir/record", "M54.50", "Page 1 of 2, 26 in total", `<span class="quiet">pain_scores, 26 Dec 2025, 00:00 UTC</span>`} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	p = b.get(path + "/fhir?page=2")
	if types := headings.FindAllStringSubmatch(p.text, -1); len(types) != 1 || types[0][2] != fhir.ResourceID(records[0].ID) {
		t.Errorf("the second page has %v", types)
	}
	if p := b.get(path + "/fhir?page=3"); p.status != http.StatusOK || !strings.Contains(p.text, "No records on this page") {
		t.Errorf("a page behind the last: %d", p.status)
	}
	if p := h.signedIn("eve@clinic.example", "theirs", access.Administrator).get(path + "/fhir"); p.status != http.StatusNotFound {
		t.Errorf("another organisation: %d", p.status)
	}
	for _, action := range []string{"patient.read", "clinical_data.read"} {
		settle(t, h, b, action)
	}
	if p := b.get(path); !strings.Contains(p.text, `href="`+path+`/fhir"`) {
		t.Error("the patient's page has no link")
	}
}

// headings finds the types and ids of resources.
var headings = regexp.MustCompile(`<h2 id="resource-\d+">(\w+) <code>([\w-]+)</code>`)
