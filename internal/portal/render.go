package portal

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
)

//go:embed pages assets
var files embed.FS

// pages are the templates by name, each with its layout.
type pages map[string]*template.Template

// shared are the files available to every page.
var shared = []string{"pages/layout.html", "pages/parts.html", "pages/reference-parts.html"}

// readPages parses the embedded templates, once. It panics if one is invalid.
var readPages = sync.OnceValue(func() pages {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, shared...))
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err)
	}
	all := pages{}
	for _, name := range names {
		if base := strings.TrimSuffix(path.Base(name), ".html"); !slices.Contains(shared, name) {
			all[base] = template.Must(template.Must(layout.Clone()).ParseFS(files, name))
		}
	}
	return all
})

// functions are available in templates.
var functions = template.FuncMap{
	"day":    func(t time.Time) string { return whenSet(t, "2 Jan 2006") },
	"moment": func(t time.Time) string { return whenSet(t, "2 Jan 2006, 15:04 UTC") },
	"stamp":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"number": number,
	"plain":  plain,
	"sized":  sized,
	"join":   strings.Join,
	"lower":  strings.ToLower,
	"words":  func(list ...string) []string { return list },
	"roles":  access.Roles,
	"tiers":  access.Tiers,
}

func whenSet(t time.Time, layout string) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(layout)
}

// number formats a whole number with thousands separators.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent returns a proportion in whole per cent. It does not round up to 100.
func percent(part, all int64) string {
	return strconv.FormatInt(part*100/all, 10) + " %"
}

// shown is the data that every page has besides its own.
type shown struct {
	Title   string
	Section string
	Member  any
	Role    access.Role
	Org     string
	Data    any
}

// IsDeveloper and IsAdministrator decide which actions a page offers.
func (s shown) IsDeveloper() bool     { return s.Member != nil && s.Role.Has(access.Developer) }
func (s shown) IsAdministrator() bool { return s.Member != nil && s.Role.Has(access.Administrator) }

// SeesPatients, MakesReports and MakesExports report what the role's scopes include.
func (s shown) SeesPatients() bool { return s.Member != nil && s.Role.Scopes().Has(seesPatients) }
func (s shown) MakesReports() bool {
	return s.Member != nil && s.Role.Scopes().Has(access.ReportsWrite)
}
func (s shown) MakesExports() bool {
	return s.Member != nil && s.Role.Scopes().Has(access.ExportsWrite|seesPatients)
}

// show responds with a page. The page is rendered before anything is sent, so
// that an error in it results in a complete error page.
func (v *visit) show(name, title string, data any) error {
	page := v.pages[name]
	if page == nil {
		return fmt.Errorf("there is no page %q", name)
	}
	with := shown{Title: title, Section: section(v.r.URL.Path), Data: data}
	if v.member != nil {
		with.Member, with.Role, with.Org = v.member, v.member.Role, v.member.OrgName
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, "layout.html", with); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(v.status)
	_, _ = v.w.Write(b.Bytes()) // the reader may be gone
	return nil
}

// section returns the section that the navigation highlights: the first path
// element after /portal/, or docs.
func section(p string) string {
	if strings.HasPrefix(p, "/docs/") {
		return "docs"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/portal/"), "/")
	return first
}

func escape(s string) string { return url.QueryEscape(s) }

// assets serves the stylesheet, the script and the images.
func assets() http.Handler {
	sub, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err)
	}
	files := http.StripPrefix("/portal/assets/", http.FileServerFS(sub))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		files.ServeHTTP(w, r)
	})
}
