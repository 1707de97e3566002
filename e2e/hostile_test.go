package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/store/storetest"
)

// hostile are texts that a page, a chart or a table must show as they are.
var hostile = []string{
	`<script>alert(1)</script>`,
	`=cmd|' /C calc'!A0`,
	"\u202Eemaner\u202C \"><img src=x onerror=alert(2)>",
}

// TestEveryPageHolds fills an installation with hostile texts wherever a
// person or a program can leave one, then walks every page from the overview
// on by its links. No page runs what it shows, every text is there to be read,
// axe finds nothing on any kind of page in any look, and the keyboard reaches
// everything.
func TestEveryPageHolds(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--dev")
	s.member("admin@clinic.example", "administrator")
	app := s.register("professional")
	c := n.as(app)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Join(hostile, "\n")))
	}))
	t.Cleanup(receiver.Close)
	// shown is what the page at an address must say.
	shown := map[string][]string{}
	for i, text := range hostile {
		s.memberNamed([]string{"x", "y", "z"}[i]+"@clinic.example", text, "viewer")
		other := s.credentials("client", "create", "--name", text, "--json")
		fillHostile(t, c, text, receiver.URL, shown)
		shown["/portal/applications/"+other.ID] = []string{text}
		for _, list := range []string{"/portal/patients", "/portal/applications", "/portal/webhooks", "/portal/reports", "/portal/members"} {
			shown[list] = append(shown[list], text)
		}
		for _, query := range []string{"/portal/patients?search=", "/portal/analytics?condition=", "/portal/audit?resource=", "/portal/reports?patient_id="} {
			shown[query+url.QueryEscape(text)] = nil
		}
		shown["/portal/patients?search="+url.QueryEscape(text)] = []string{text}
	}

	bare, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "Nothing Known", DateOfBirth: "1990-01-01"})
	if err != nil {
		t.Fatal(err)
	}

	v := newVisitor(t, n.url)
	v.signIn("admin@clinic.example")
	w := &walk{visitor: v, seen: map[string]bool{}, kinds: map[string]bool{}, shown: shown, empty: []string{
		"/portal/patients/" + bare.ID, "/portal/patients?search=nobody", "/portal/analytics?condition=Z99", "/portal/analytics?age_min=x", "/portal/audit?resource=nothing", "/portal/patients/pat_nobody",
	}}
	for path := range shown {
		w.todo = append(w.todo, path)
	}
	slices.Sort(w.todo)
	// The plain page of each kind comes first; it is the one that is checked.
	w.todo = slices.Concat([]string{"/portal/", "/portal/patients", "/portal/analytics", "/portal/reports", "/portal/audit", "/portal/account", "/portal/nothing"}, w.empty, w.todo)
	w.walk()
	for _, kind := range []string{
		"/portal/", "/portal/patients", "/portal/patients/{}", "/portal/patients/{}/fhir", "/portal/patients/{}/records/{}", "/portal/analytics", "/portal/reports", "/portal/reports/{}",
		"/portal/applications", "/portal/applications/new", "/portal/applications/{}", "/portal/webhooks", "/portal/webhooks/new", "/portal/webhooks/{}",
		"/portal/webhooks/{}/edit", "/portal/webhooks/{}/deliveries/{}", "/portal/members", "/portal/audit", "/portal/account", "/portal/nothing", "/docs/",
	} {
		if !w.kinds[kind] {
			t.Errorf("no link led to %s", kind)
		}
	}
	if opened := v.Dialogs(); len(opened) > 0 {
		t.Errorf("dialogs were opened: %q", opened)
	}
}

// fillHostile leaves a text in everything the API takes, and notes where it
// is to be seen.
func fillHostile(t *testing.T, c *client.Client, text, receiver string, shown map[string][]string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	hook, err := c.CreateWebhook(t.Context(), client.NewWebhook{URL: receiver + "/" + url.PathEscape(text), Events: []client.EventType{"*"}, Description: text})
	must(err)
	shown["/portal/webhooks/"+hook.ID] = []string{text}
	shown["/portal/webhooks/"+hook.ID+"/edit"] = nil
	patient, err := c.CreatePatient(t.Context(), client.NewPatient{
		Name: text, DateOfBirth: "1966-12-09", Gender: "female", MedicalHistory: []client.HistoryEntry{{Condition: text, ICD10Code: "M54.5"}},
	})
	must(err)
	shown["/portal/patients/"+patient.ID] = []string{text}
	records, err := c.AddRecords(t.Context(), patient.ID, []client.NewRecord{
		{DataType: "pain_scores", Value: map[string]any{"score": 7, "aspect": "average", "body_site": "lower back"}, Notes: text, Author: text, Source: "clinician"},
		{DataType: "pain_scores", Value: map[string]any{"score": 5, "aspect": "average", "body_site": "lower back"}},
		{DataType: "medications", Value: map[string]any{"name": text, "drug_class": "nsaid"}},
		{DataType: "procedures", Value: map[string]any{"procedure_type": "other", "level": text, "performer": text, "complication": text, "pre_score": 7, "post_score": 4}},
		{DataType: "notes", Value: map[string]any{"text": text, "note_type": text}},
	})
	must(err)
	for i, r := range records {
		if i == 1 {
			continue // a score has no text of its own
		}
		shown["/portal/patients/"+patient.ID+"/records/"+r.ID] = []string{text}
	}
	report, err := c.CreateReport(t.Context(), client.NewReport{Type: "patient_summary", Format: "json", Title: text, Parameters: client.ReportParameters{PatientID: patient.ID}})
	must(err)
	_, err = c.WaitReport(t.Context(), report.ID)
	must(err)
	shown["/portal/reports/"+report.ID] = []string{text}
}

// walk goes from page to page by links.
type walk struct {
	*visitor
	todo        []string
	seen, kinds map[string]bool
	shown       map[string][]string
	// empty are pages without content, or with an error: they are always
	// checked.
	empty []string
}

var identifier = regexp.MustCompile(`(pat|rec|whk|cli|rep|dlv)_\w+`)

func (w *walk) walk() {
	w.t.Helper()
	for ; len(w.todo) > 0; w.todo = w.todo[1:] {
		at := w.todo[0]
		path, _, _ := strings.Cut(at, "?")
		kind := identifier.ReplaceAllString(path, "{}")
		_, wanted := w.shown[at]
		empty := slices.Contains(w.empty, at)
		if w.seen[at] || w.kinds[kind] && !wanted && !empty { // of a kind of page that nothing is expected of, one will do
			continue
		}
		w.seen[at] = true
		w.must(w.Go(w.base + at))
		w.look(at)
		if !w.kinds[kind] || empty {
			w.kinds[kind] = w.kinds[kind] || !empty
			w.openAll()
			w.judge()
			w.byKeyboard(at)
		}
	}
}

// look reads the page: its texts, no script that came with them, its links.
func (w *walk) look(at string) {
	w.t.Helper()
	page, err := w.Page()
	w.must(err)
	values, err := browser.Evaluate[string](w.Browser, `[...document.querySelectorAll("main input, main textarea")].map(e => e.value).join("\n")`)
	w.must(err)
	for _, text := range w.shown[at] {
		if !strings.Contains(page, text) {
			w.t.Errorf("%s does not show %q", at, text)
		}
	}
	if _, given := w.shown[at]; given && strings.Contains(at, "=") && !strings.Contains(at, "search=") {
		query := strings.IndexByte(at, '=')
		if text, err := url.QueryUnescape(at[query+1:]); err != nil || !strings.Contains(page+values, text) {
			w.t.Errorf("%s does not show what it was asked for", at)
		}
	}
	foreign, err := browser.Evaluate[int](w.Browser, `document.querySelectorAll("script:not([src]), main img, [onerror], [onmouseover], svg script").length`)
	w.must(err)
	if foreign > 0 {
		w.t.Errorf("%s has %d elements that came from a text", at, foreign)
	}
	links, err := browser.Evaluate[string](w.Browser, `[...document.querySelectorAll("a[href]:not([download])")].map(a => a.getAttribute("href")).join("\n")`)
	w.must(err)
	for link := range strings.SplitSeq(links, "\n") {
		link, _, _ = strings.Cut(link, "#")
		if strings.HasPrefix(link, "/portal/") && !strings.HasPrefix(link, "/portal/sign-") || link == "/docs/" {
			w.todo = append(w.todo, link)
		}
	}
}
