package importer

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/strictjson"
)

// FuzzCSV checks that every row of any file becomes a valid request body or an
// error, and that the same file is always read the same way.
func FuzzCSV(f *testing.F) {
	f.Add("name,dob,email\nAda,1984-05-17,a@example.org\n")
	f.Add("mrn;data_type;date;score;value\n1;pain_scores;2026-01-15;7;\n1;labs;;;{\"a\":1}\n")
	f.Add("mrn\tdata_type\tquality\titem1\n1\tpain_scores\ta|b\tyes\n")
	f.Add("\"name\",\"dob\"\n\"A\n\"\"B\",\"x\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		first, _, _ := strings.Cut(text, "\n")
		comma := sniffComma(first)
		read := func() (bodies []string) {
			reader := &csvReader{lines: newLines(strings.NewReader(text)), comma: comma}
			header, err := reader.next()
			if err != nil || header.problem != "" {
				return nil
			}
			var mappings []*mapping
			for _, kind := range []Kind{Patients, Clinical} {
				if m, err := newMapping(kind, header.fields, nil, nil, "pain_scores"); err == nil {
					mappings = append(mappings, m)
				}
			}
			for last := header.line; ; {
				r, err := reader.next()
				if errors.Is(err, io.EOF) {
					return bodies
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.line <= last {
					t.Fatalf("line %d after line %d", r.line, last)
				}
				last = r.line
				for _, m := range mappings {
					if r.problem != "" {
						continue
					}
					e, problem := m.entry(r.fields)
					if problem != "" {
						continue
					}
					// JSON in a cell may be nested too deeply.
					deep := slices.ContainsFunc(r.fields, func(s string) bool { return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") })
					if _, err := strictjson.Parse(e.body); err != nil && !deep {
						t.Fatalf("%q became %s: %v", r.fields, e.body, err)
					}
					bodies = append(bodies, string(e.body))
				}
			}
		}
		if a, b := read(), read(); strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Errorf("%q, then %q", a, b)
		}
	})
}
