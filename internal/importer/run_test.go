package importer_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/importer"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// place is an organisation and a folder of files to import into it.
type place struct {
	t   *testing.T
	s   *store.Store
	org store.Org
	dir string
}

// each runs a test on both engines.
func each(t *testing.T, test func(p *place)) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		storetest.Client(t, s, "Ours")
		org, err := s.System().Organization(t.Context(), "Ours")
		if err != nil {
			t.Fatal(err)
		}
		test(&place{t, s, org, t.TempDir()})
	})
}

// file writes a file and gives its path.
func (p *place) file(name string, lines ...string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// run imports files and compares the counts with "imported already refused" of
// each.
func (p *place) run(want string, change func(*importer.Config), files ...string) []importer.Summary {
	p.t.Helper()
	cfg := importer.Config{Org: p.org, Files: files, Now: time.Now}
	if change != nil {
		change(&cfg)
	}
	done, err := importer.Run(p.t.Context(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	var got []string
	for _, sum := range done {
		if sum.Read != sum.Imported+sum.Already+sum.Refused+sum.LeftOut {
			p.t.Errorf("%+v: the sum is wrong", sum)
		}
		got = append(got, fmt.Sprint(sum.Imported, sum.Already, sum.Refused))
	}
	if strings.Join(got, ", ") != want {
		p.t.Errorf("imported, there already, refused: %q, want %q", got, want)
		for _, sum := range done {
			if text, err := os.ReadFile(sum.Errors); err == nil {
				p.t.Logf("%s", text)
			}
		}
	}
	return done
}

// patients lists the patients in order.
func (p *place) patients() (list []pain.Patient) {
	p.t.Helper()
	var items []patients.PatientItem
	if _, err := p.org.PatientPage(p.t.Context(), 1, 1_000_000, func(i patients.PatientItem) { items = append(items, i) }); err != nil {
		p.t.Fatal(err)
	}
	for _, i := range items {
		patient, err := p.org.Patient(p.t.Context(), i.ID)
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, patient)
	}
	return list
}

// records lists the records of a patient, printed.
func (p *place) records(patient pain.Patient) (list []string) {
	p.t.Helper()
	if _, err := p.org.Records(p.t.Context(), patient.ID, patients.RecordQuery{Page: 1, Limit: 1_000_000}, func(r *pain.Record) {
		list = append(list, string(pain.AppendRecord(nil, r)))
	}); err != nil {
		p.t.Fatal(err)
	}
	return list
}

func TestBothKindsInBothFormats(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("patients.csv", "\ufeffMRN;Name;Date of Birth;E-Mail;Condition;ICD10", `A1;"Nowak; Ada";1984-05-17;ada@example.org;Back pain;M54.50`, "A2;Bo Seng;1990-02-28;;;")
		more := p.file("patients.ndjson", `{"external_id":"A3","name":"Eve","date_of_birth":"1970-01-01","contact":{"phone":"1"}}`, ``, `{"name":"Zoë","date_of_birth":"1971-01-01"}`)
		p.run("2 0 0, 2 0 0", nil, people, more)
		got := p.patients()
		if len(got) != 4 || got[0].Name != "Nowak; Ada" || got[1].Name != "Bo Seng" || got[2].Contact.Phone != "1" || got[3].Name != "Zoë" {
			p.t.Fatalf("patients: %+v", got)
		}
		if history := got[0].MedicalHistory.JSON(); history != `[{"condition":"Back pain","icd10_code":"M54.50"}]` {
			p.t.Errorf("history %s", history)
		}
		scores := p.file("clinical.csv", "external_id,data_type,recorded_at,score,drug,source", "A1,pain_scores,2026-01-15,7,,", "A1,pain_scores,2026-01-15,7,,", "A1,medications,2026-01-16,,morphine,device")
		lines := p.file("clinical.ndjson", `{"external_id":"A3","data_type":"sleep","recorded_at":"2026-01-15","value":{"hours":7}}`,
			`{"patient_id":"`+got[3].ID.String()+`","data_type":"pain_scores","recorded_at":"2026-01-15T10:00:00+02:00","value":3}`)
		p.run("3 0 0, 2 0 0", nil, scores, lines)
		if list := p.records(got[0]); len(list) != 3 || !strings.Contains(list[0], `"source":"import"`) || !strings.Contains(list[2], `"source":"device"`) {
			p.t.Errorf("records: %q", list)
		}
		if list := p.records(got[3]); len(list) != 1 || !strings.Contains(list[0], `"severity":"mild"`) || !strings.Contains(list[0], "T08:00:00Z") {
			p.t.Errorf("records: %q", list)
		}
		// All again, under other names and with the columns in another order.
		again := p.file("again.csv", "drug,score,external_id,recorded_at,data_type", ",7,A1,2026-01-15,pain_scores", ",7,A1,2026-01-15,pain_scores", ",7,A1,2026-01-15,pain_scores")
		p.run("0 2 0, 0 2 0, 1 2 0, 0 2 0", nil, again, lines, people, more)
	})
}

// An import understands what the organisation calls its medicines: 60 tablets of
// oxycodone 5 mg in 30 days are 10 mg a day, and 15 MME by the factor 1.5.
func TestAliasesInAnImport(t *testing.T) {
	each(t, func(p *place) {
		p.run("1 0 0", nil, p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17"))
		house := patients.Alias{ID: id.New[id.AliasKind](time.Now()), Alias: pain.Alias{Name: "House stock", RxNormCode: "1049621"}, CreatedBy: "cli_1", CreatedAt: time.Now()}
		line := audit.Entry{At: time.Now(), Actor: "cli_1", Action: audit.AliasCreate, Resource: house.ID.String()}
		if _, err := p.org.CreateAlias(p.t.Context(), &house, journal.Change{Audit: line}, nil, idempotency.Outcome{}); err != nil {
			p.t.Fatal(err)
		}
		p.run("1 0 1", nil, p.file("c.csv", "mrn,data_type,recorded_at,drug,quantity,days_supply,drug_class",
			"1,medications,2026-01-16,HOUSE-STOCK,60,30,", "1,medications,2026-01-17,house stock,60,30,nsaid"))
		list := p.records(p.patients()[0])
		if len(list) != 1 || !strings.Contains(list[0], `"basis":"alias","alias_code":"1049621","ingredients":["oxycodone"]`) || !strings.Contains(list[0], `"mme_per_day":15,`) {
			p.t.Errorf("records: %q", list)
		}
	})
}

func TestEventsAndAuditLines(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17", "2,Bo,1984-05-17")
		lines := []string{"mrn,data_type,date,score,hours"}
		for i := range 150 {
			lines = append(lines, fmt.Sprintf("1,pain_scores,2026-01-15,%d,", i%10), fmt.Sprintf("2,sleep,2026-01-15,,%d", i%10))
		}
		p.run("2 0 0, 300 0 0", nil, p.file("c.csv", lines...), people)
		storetest.Run(p.t, p.s)
		ctx, cancel := context.WithTimeout(p.t.Context(), testwait.Bound)
		defer cancel()
		events, next, err := p.org.WaitEvents(ctx, 0, 100)
		for err == nil && len(events) < 6 && ctx.Err() == nil {
			var more []event.Event
			more, next, err = p.org.WaitEvents(ctx, next, 100)
			events = append(events, more...)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		var kinds []string
		records := map[string]bool{}
		for _, e := range events {
			var data struct {
				Records []string `json:"record_ids"`
				Types   []string `json:"data_types"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				p.t.Fatal(err)
			}
			kinds = append(kinds, fmt.Sprintf("%s%v%d", e.Type, data.Types, len(data.Records)))
			for _, r := range data.Records {
				records[r] = true
			}
		}
		want := "patient.created[]0 patient.created[]0 clinical_data.updated[pain_scores]100 clinical_data.updated[sleep]100 clinical_data.updated[pain_scores]50 clinical_data.updated[sleep]50"
		if got := strings.Join(kinds, " "); got != want {
			p.t.Errorf("events\n%s, want\n%s", got, want)
		}
		if len(records) != 300 {
			p.t.Errorf("%d records in events", len(records))
		}
	})
}

func TestRefusedLines(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob,notes_to_self", "1,Ada,1984-05-17,x", "2,,1990-02-30,y", `3,"Open,1990-01-01,z`, "4,Bo,1990-01-01", "5,Caf\xe9,1990-01-01,u", "6,Nul\x00,1990-01-01,", "7,Eve,1990-01-01,"+strings.Repeat("x", 1<<20), "8,Zoe,1990-01-01,")
		leaveOut := func(c *importer.Config) { c.Renames = []importer.Rename{{Column: "notes_to_self"}} }
		done := p.run("2 0 6", leaveOut, people)
		info, err := os.Stat(done[0].Errors)
		if err != nil || info.Mode().Perm() != 0o600 || done[0].Errors != people+".errors.csv" {
			p.t.Errorf("errors in %s, %v, %v", done[0].Errors, info.Mode(), err)
		}
		file, err := os.Open(done[0].Errors)
		if err != nil {
			p.t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			p.t.Fatal(err)
		}
		for i, want := range []struct{ line, parameter, message, mrn string }{
			{"error_line", "error_parameter", "error_message", "mrn"},
			{"3", "name date_of_birth", "YYYY-MM-DD", "2"},
			{"4", "", "A quoted field is not closed", ""},
			{"5", "", "3 fields, the header 4", "4"},
			{"6", "", "not valid UTF-8", "5"},
			{"7", "", "NUL", "6"},
			{"8", "", "longer than 1 MiB", ""},
		} {
			if got := rows[i]; got[0] != want.line || got[1] != want.parameter || !strings.Contains(got[2], want.message) || got[4] != want.mrn {
				p.t.Errorf("row %d: %.300q, want %q", i, got, want)
			}
		}
		// The corrected file of errors is imported as it is.
		text, err := os.ReadFile(done[0].Errors)
		if err != nil {
			p.t.Fatal(err)
		}
		fixed := p.file("fixed.csv", strings.Split(strings.Replace(string(text), ",2,,1990-02-30,", ",2,Bea,1990-02-28,", 1), "\n")[:2]...)
		p.run("1 0 0", leaveOut, fixed)
		if got := p.patients(); len(got) != 3 || got[2].Name != "Bea" {
			p.t.Errorf("patients: %+v", got)
		}
	})
}

func TestRefusedClinicalLines(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17")
		lines := p.file("c.ndjson",
			`{"external_id":"1","data_type":"pain_scores","recorded_at":"1980-01-01","value":7}`,
			`{"external_id":"1","data_type":"pain_scores","value":7}`,
			`{"external_id":"9","data_type":"pain_scores","recorded_at":"2026-01-01","value":7}`,
			`{"patient_id":"pat_x","data_type":"pain_scores","recorded_at":"2026-01-01","value":7}`,
			`{"data_type":"pain_scores","recorded_at":"2026-01-01","value":7}`,
			`{"external_id":"1","data_type":"pain_score","recorded_at":"2026-01-01","value":7}`,
			`{"external_id":"1","data_type":"pain_scores","recorded_at":"2026-01-01","value":11,"value":7}`,
			`{"external_id":"1","data_type":"pain_scores","recorded_at":"2099-01-01","value":11}`,
			`["external_id"]`,
			`{"external_id":{},"data_type":"pain_scores","recorded_at":"2026-01-01","value":7}`,
			`{"external_id":1,"data_type":"pain_scores","recorded_at":"2026-01-01","value":7}`,
		)
		done := p.run("1 0 0, 1 0 10", nil, lines, people)
		text, err := os.ReadFile(done[1].Errors)
		if err != nil {
			p.t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i, want := range []string{"before the date of birth", "recorded_at is required", "No patient with this external_id", "no patient with this patient_id", "is required",
			`pain_scores`, "twice", "in the future", `"error_text":"[\"external_id\"]"`, "must be a string"} {
			if !json.Valid([]byte(got[i])) || !strings.Contains(got[i], want) || !strings.Contains(got[i], fmt.Sprintf(`{"error_line":%d,`, i+1)) {
				p.t.Errorf("line %d: %s, want %q", i+1, got[i], want)
			}
		}
		fixed := p.file("fixed.ndjson", strings.Replace(got[0], "1980", "2020", 1))
		p.run("1 0 0", nil, fixed)
	})
}

func TestDryRunChangesNothing(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17", "2,Bo,1984-05-17", "3,,")
		scores := p.file("c.csv", "mrn,data_type,date,score", "1,pain_scores,2026-01-15,7", "3,pain_scores,2026-01-15,7", "2,pain_scores,1980-01-15,7")
		dry := func(c *importer.Config) { c.DryRun = true }
		before, _, err := p.org.Head(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		p.run("2 0 1, 1 0 2", dry, scores, people)
		if head, patients, err := p.org.Head(p.t.Context()); head != before || patients != 0 || err != nil {
			p.t.Errorf("the journal went from %d to %d, %d patients, %v", before, head, patients, err)
		}
		p.run("2 0 1, 1 0 2", nil, scores, people)
		p.run("0 2 1, 0 1 2", dry, scores, people)
	})
}

// A second person with the identifier of a first is refused, not left out.
func TestOneIdentifierForTwo(t *testing.T) {
	each(t, func(p *place) {
		people := p.file("p.csv", "mrn,name,dob", "1,Ada,1984-05-17", "2,Bo,1984-05-17", "1,Eve,1990-05-17", "1,Ada,1984-05-17")
		p.run("3 0 1", func(c *importer.Config) { c.DryRun = true }, people)
		p.run("2 1 1", nil, people)
		done := p.run("0 3 1", func(c *importer.Config) { c.DryRun = true }, people)
		if text, err := os.ReadFile(done[0].Errors); !strings.Contains(string(text), "with different values") || !strings.Contains(string(text), ",Eve,") || err != nil {
			p.t.Errorf("errors: %s, %v", text, err)
		}
	})
}

func TestManyLines(t *testing.T) {
	importer.HoldLines(t, 5000)
	each(t, func(p *place) {
		people, scores := []string{"mrn,name,dob"}, []string{"mrn,date,score"}
		for i := range 1000 {
			people = append(people, fmt.Sprintf("%d,P%04d,1984-05-17", i, i))
		}
		for i := range 12_000 { // more than wait for others of their patient
			scores = append(scores, fmt.Sprintf("%d,2026-01-%02d,%d", i*7%1000, 1+i%28, i%3))
		}
		p.run("1000 0 0", nil, p.file("p.csv", people...))
		ofScores := func(c *importer.Config) { c.DataType = "pain_scores" }
		p.run("12000 0 0", ofScores, p.file("c.csv", scores...))
		p.run("0 12000 0", ofScores, p.file("c.csv", scores...))
		for i, patient := range p.patients() {
			if want := fmt.Sprintf("P%04d", i); patient.Name != want {
				p.t.Fatalf("patient %d is %s: not in the order of the file", i, patient.Name)
			}
			if i%100 == 0 && len(p.records(patient)) != 12 {
				p.t.Errorf("patient %d has %d records, want 12", i, len(p.records(patient)))
			}
		}
	})
}

// Equal lines are as many records, wherever in a file an import starts to look
// ahead for them, and it recognises them if it starts elsewhere the next time.
func TestEqualLines(t *testing.T) {
	each(t, func(p *place) {
		lines := []string{"1,2026-01-15,7,", "1,2026-01-15,7,", "2,2026-01-15,7,\"a\nb\"", "1,,7,", "9,2026-01-15,7,", "1, 2026-01-15 ,7,", "2,2026-01-15,7,\"a\nb\"",
			"1,2026-01-16,7,", "2,2026-01-17,7,", "2,2026-01-17,7,", "1,2026-01-16,7,", "1,,7,", "1,2026-01-15,7,", "2,2026-01-15,7,"}
		var people []string
		for i := range len(lines) + 2 {
			people = append(people, fmt.Sprintf("%d-1,Ada,1984-05-17", i), fmt.Sprintf("%d-2,Bo,1984-05-17", i))
		}
		p.run(fmt.Sprint(len(people), 0, 0), nil, p.file("p.csv", append([]string{"mrn,name,dob"}, people...)...))
		for counted := range len(lines) + 2 {
			text := []string{"mrn,date,score,notes"}
			for _, line := range lines {
				text = append(text, fmt.Sprintf("%d-%s", counted, line))
			}
			path := p.file("c.csv", text...)
			ofScores := func(c *importer.Config) { c.DataType = "pain_scores" }
			importer.CountLines(t, counted)
			p.run("11 0 3", ofScores, path)
			p.run("0 11 3", ofScores, path)
			importer.CountLines(t, (counted+5)%len(lines))
			p.run("0 11 3", ofScores, path)
		}
		for i, patient := range p.patients() {
			if want := []int{6, 5}[i%2]; len(p.records(patient)) != want {
				t.Errorf("patient %d has %d records, want %d", i, len(p.records(patient)), want)
			}
		}
	})
}

// An import that was stopped at any moment is resumed.
func TestStoppedAndResumed(t *testing.T) {
	each(t, func(p *place) {
		people := []string{"name,dob"}
		for i := range 3000 { // some say the same
			people = append(people, fmt.Sprintf("P%04d,1984-05-17", i/2))
		}
		path := p.file("p.csv", people...)
		for at := int64(0); at < 30_000; at += 10_000 {
			ctx, stop := context.WithCancel(p.t.Context())
			_, err := importer.Run(ctx, importer.Config{Org: p.org, Files: []string{path}, Now: time.Now, Progress: func(_ string, _ bool, done, _ int64) {
				if done >= at {
					stop()
				}
			}})
			if err == nil {
				p.t.Error("it was not stopped")
			}
		}
		if _, err := importer.Run(p.t.Context(), importer.Config{Org: p.org, Files: []string{path}, Now: time.Now}); err != nil {
			p.t.Fatal(err)
		}
		count := map[string]int{}
		for _, patient := range p.patients() {
			count[patient.Name]++
		}
		for name, n := range count {
			if n != 2 {
				p.t.Errorf("%s is there %d times, want 2", name, n)
			}
		}
		if len(count) != 1500 {
			p.t.Errorf("%d names, want 1500", len(count))
		}
	})
}

func TestFaultsBeforeAnything(t *testing.T) {
	each(t, func(p *place) {
		good := p.file("good.csv", "name,dob", "Ada,1984-05-17")
		for name, c := range map[string]struct {
			cfg  importer.Config
			want string
		}{
			"unknown column":      {importer.Config{Files: []string{good, p.file("a.csv", "name,dob,bed", "a,b,c")}}, `a.csv: column "bed"`},
			"no kind":             {importer.Config{Files: []string{good, p.file("b.csv", "a,b", "a,b")}}, "use --kind"},
			"empty":               {importer.Config{Files: []string{good, p.file("c.csv", "")}}, "is empty"},
			"UTF-16":              {importer.Config{Files: []string{good, p.file("d.csv", "\xff\xfen\x00")}}, "UTF-16"},
			"missing":             {importer.Config{Files: []string{good, filepath.Join(p.dir, "none.csv")}}, "none.csv"},
			"folder":              {importer.Config{Files: []string{good, p.dir}}, "not a regular file"},
			"data type":           {importer.Config{Files: []string{good}, DataType: "pain_score"}, "pain_scores"},
			"unused rename":       {importer.Config{Files: []string{good}, Renames: []importer.Rename{{Column: "bed"}}}, `no file has the column "bed"`},
			"one file of errors":  {importer.Config{Files: []string{good, good}, Errors: "x"}, "several files"},
			"errors on the input": {importer.Config{Files: []string{p.file("e.csv", "name,dob", "Ada,")}, Errors: filepath.Join(p.dir, "e.csv")}, "overwritten"},
		} {
			c.cfg.Org, c.cfg.Now = p.org, time.Now
			if _, err := importer.Run(p.t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				p.t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		if got := p.patients(); len(got) != 0 {
			p.t.Errorf("%d patients came in", len(got))
		}
	})
}

// Rejected lines may go to a pipe or a device, which keeps its mode: otherwise
// root would make /dev/null unusable for others.
func TestErrorsToSomethingThatIsNoFile(t *testing.T) {
	each(t, func(p *place) {
		pipe := filepath.Join(p.dir, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Chmod(pipe, 0o644); err != nil { // whatever the umask
			p.t.Fatal(err)
		}
		reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		defer reader.Close()
		p.run("0 0 1", func(c *importer.Config) { c.Errors = pipe }, p.file("p.csv", "mrn,name,dob", "1,Ada,tomorrow"))
		if info, err := os.Stat(pipe); err != nil || info.Mode().Perm() != 0o644 {
			p.t.Errorf("the pipe has mode %v, %v", info.Mode(), err)
		}
		text := make([]byte, 1<<10)
		if n, err := reader.Read(text); err != nil || !strings.Contains(string(text[:n]), "tomorrow") {
			p.t.Errorf("through the pipe came %q, %v", text[:n], err)
		}
	})
}
