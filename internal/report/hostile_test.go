package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/testneed"
)

// Titles and names of organisations are texts in every format of every type,
// whatever they look like; names of patients are in TestNumbers. The summary of
// a patient has a head of its own and gets every text; the other types share
// one and get a third each.
func TestHostileTitles(t *testing.T) {
	testneed.Long(t, "reading dozens of PDFs")
	for i, text := range append(slices.Clone(hostile), strings.Repeat("Très long ", 19)) {
		documents := map[string]contents{"patient": usual(t, "Eleni")}
		switch i % 3 {
		case 0:
			documents["outcomes"] = outcomes(t, 3, analytics.Request{})
		case 1:
			documents["population"] = population(t, 3, analytics.Request{})
		case 2:
			documents["stewardship"] = stewards(3)
		}
		for kind, d := range documents {
			d.head().Title, d.head().Organisation = text, text
			pdf := file(t, d, reports.PDF)
			tidy(t, pdf)
			page := strings.Join(strings.Fields(string(poppler(t, "pdftotext", pdf, "-raw", "-f", "1", "-l", "1", "-enc", "UTF-8", "FILE", "-"))), " ")
			title := begin(printed(text))
			if kind == "patient" {
				title = strings.ToUpper(title)
			}
			if !strings.Contains(page, title) || !strings.Contains(page, d.head().ID+" · "+begin(printed(text))) {
				t.Errorf("%s: %q is not printed: %s", kind, text, page)
			}
			if kind == "stewardship" { // whose table has neither
				continue
			}
			lines, err := csv.NewReader(bytes.NewReader(file(t, d, reports.CSV))).ReadAll()
			if err != nil || !sameCell(lines[1][2], text) || !sameCell(lines[2][2], text) {
				t.Errorf("%s: %q is %q and %q in CSV, %v", kind, text, lines[1][2], lines[2][2], err)
			}
			book, err := excelize.OpenReader(bytes.NewReader(file(t, d, reports.XLSX)))
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range []string{"B2", "B3"} {
				if problem := cellProblem(book, "About", cell, value(t, book, cell), text); problem != "" {
					t.Errorf("%s: %q is %s in XLSX", kind, text, problem)
				}
				if formula, err := book.GetCellFormula("About", cell); formula != "" || err != nil {
					t.Errorf("%s: %q is the formula %s, %v", kind, text, formula, err)
				}
			}
			if props, err := book.GetDocProps(); err != nil || props.Title != text {
				t.Errorf("%s: %q is the title %+v, %v", kind, text, props, err)
			}
			if err := book.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// begin returns as much of a text as fits everywhere.
func begin(text string) string {
	letters := []rune(text)
	return string(letters[:min(len(letters), 40)])
}

func value(t *testing.T, book *excelize.File, cell string) string {
	t.Helper()
	raw, err := book.GetCellValue("About", cell, excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
