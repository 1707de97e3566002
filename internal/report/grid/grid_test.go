package grid_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/report/grid"
)

func rows(list ...[]any) iter.Seq[[]any] { return slices.Values(list) }

var (
	date  = pain.Date{Year: 2026, Month: time.January, Day: 15}
	half  = 0.5
	ugly  = []string{"=1+1", "+49 1", "-5", "@SUM(A1)", "\tx", "\rx", "＝1", "a\"b,c", "line\nbreak", "Ünï <b>&'\"", "_x0041_", "", "O'Hara", "5"}
	mixed = grid.Table{Name: "All & <sorts>", Columns: []string{"text", "whole", "number", "truth", "date", "nothing", "=header"}, Rows: rows(
		[]any{"x", 7, -1.25, true, date, nil, (*float64)(nil)},
		[]any{"y", -7, &half, false, pain.Date{}, (*bool)(nil), "z"},
	)}
	second = grid.Table{Name: "Second", Columns: []string{"only"}, Rows: rows([]any{"="}, []any{1e21})}
	// 23:59:59.5 in New York is the next day in UTC.
	moments = grid.Table{Name: "Moments", Columns: []string{"at", "n"}, Rows: rows([]any{time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC), 1},
		[]any{time.Date(2026, 1, 15, 23, 59, 59, 500_000_000, time.FixedZone("", -5*3600)), 2}, []any{time.Time{}, 3})}
)

func texts() grid.Table {
	return grid.Table{Name: "Texts", Columns: []string{"text", "n"}, Rows: func(yield func([]any) bool) {
		row := make([]any, 2)
		for i, text := range ugly {
			if row[0], row[1] = text, i; !yield(row) {
				return
			}
		}
	}}
}

func write(t *testing.T, to func(*bytes.Buffer) error) []byte {
	t.Helper()
	var a, b bytes.Buffer
	for _, buf := range []*bytes.Buffer{&a, &b} {
		if err := to(buf); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("written again, it gives other bytes")
	}
	return a.Bytes()
}

func csvOf(t *testing.T, tables ...grid.Table) (raw string, lines [][]string) {
	t.Helper()
	raw = string(write(t, func(b *bytes.Buffer) error { return grid.WriteCSV(b, tables) }))
	lines, err := csv.NewReader(strings.NewReader(raw)).ReadAll() // which wants lines of one width
	if err != nil {
		t.Fatal(err)
	}
	return raw, lines
}

func TestCSVOfOneTable(t *testing.T) {
	raw, lines := csvOf(t, mixed)
	want := "[[text whole number truth date nothing '=header] [x 7 -1.25 true 2026-01-15  ] [y -7 0.5 false   z]]"
	if fmt.Sprint(lines) != want {
		t.Errorf("%v", lines)
	}
	if strings.Count(raw, "\r\n") != 3 || strings.Count(raw, "\n") != 3 || !strings.HasSuffix(raw, "\r\n") {
		t.Errorf("lines do not end with CRLF: %q", raw)
	}
}

func TestCSVOfSeveralTables(t *testing.T) {
	_, lines := csvOf(t, mixed, second)
	if len(lines) != 6 || len(lines[3]) != 8 || lines[0][0] != mixed.Name || lines[3][0] != "Second" || lines[3][1] != "only" || lines[4][1] != "'=" || lines[5][1] != "1000000000000000000000" {
		t.Errorf("%v", lines)
	}
}

// Times are of UTC, in CSV as in the API's answers, in XLSX as real ones.
func TestMoments(t *testing.T) {
	_, lines := csvOf(t, moments)
	if fmt.Sprint(lines) != "[[at n] [2026-01-15T09:30:00Z 1] [2026-01-16T04:59:59.500Z 2] [ 3]]" {
		t.Errorf("%v", lines)
	}
	f := xlsxOf(t, moments)
	for cell, want := range map[string]string{"A2": "2026-01-15 09:30:00", "A3": "2026-01-16 04:59:59", "A4": ""} {
		kind, err := f.GetCellType("Moments", cell)
		if got, valueErr := f.GetCellValue("Moments", cell); got != want || kind != excelize.CellTypeUnset || err != nil || valueErr != nil {
			t.Errorf("%s is %q of type %d, want %q: %v %v", cell, got, kind, want, err, valueErr)
		}
	}
}

// No text begins like a formula, and removing the guard restores the original.
func TestCSVIsNoFormula(t *testing.T) {
	_, lines := csvOf(t, texts())
	for i, line := range lines[1:] {
		got := line[0]
		if got != "" && strings.ContainsAny(got[:1], "=+-@\t\r") || strings.HasPrefix(got, "＝") {
			t.Errorf("%q is a formula", got)
		}
		// The reader takes \r\n for \n, as the writer wrote it.
		if want := strings.ReplaceAll(ugly[i], "\r", ""); strings.ReplaceAll(strings.TrimPrefix(got, "'"), "\r", "") != want {
			t.Errorf("%q became %q", ugly[i], got)
		}
	}
}

func xlsxOf(t *testing.T, tables ...grid.Table) *excelize.File {
	t.Helper()
	raw := write(t, func(b *bytes.Buffer) error {
		return grid.WriteXLSX(b, grid.Book{Title: "Titel & <x>", Created: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)}, tables)
	})
	f, err := excelize.OpenReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestXLSXKeepsTypes(t *testing.T) {
	f := xlsxOf(t, mixed, second, texts())
	if got := f.GetSheetList(); !slices.Equal(got, []string{mixed.Name, "Second", "Texts"}) {
		t.Errorf("sheets %q", got)
	}
	for cell, want := range map[string]struct {
		kind  excelize.CellType
		value string
	}{
		"A1": {excelize.CellTypeInlineString, "text"}, "G1": {excelize.CellTypeInlineString, "=header"},
		"A2": {excelize.CellTypeInlineString, "x"}, "B2": {excelize.CellTypeUnset, "7"}, "C2": {excelize.CellTypeUnset, "-1.25"},
		"D2": {excelize.CellTypeBool, "TRUE"}, "E2": {excelize.CellTypeUnset, "2026-01-15"}, "F2": {excelize.CellTypeUnset, ""},
		"C3": {excelize.CellTypeUnset, "0.5"}, "E3": {excelize.CellTypeUnset, ""}, "D3": {excelize.CellTypeBool, "FALSE"},
	} {
		kind, err := f.GetCellType(mixed.Name, cell)
		value, valueErr := f.GetCellValue(mixed.Name, cell)
		if err != nil || valueErr != nil || kind != want.kind || value != want.value {
			t.Errorf("%s is %q of type %d, want %q of %d: %v %v", cell, value, kind, want.value, want.kind, err, valueErr)
		}
		if formula, err := f.GetCellFormula(mixed.Name, cell); formula != "" || err != nil {
			t.Errorf("%s is the formula %q, %v", cell, formula, err)
		}
	}
	panes, err := f.GetPanes(mixed.Name)
	if err != nil || !panes.Freeze || panes.YSplit != 1 {
		t.Errorf("panes %+v, %v", panes, err)
	}
	style, err := f.GetCellStyle(mixed.Name, "B1")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.GetStyle(style); err != nil || s.Font == nil || !s.Font.Bold {
		t.Errorf("the header is not bold: %+v, %v", s, err)
	}
	if width, err := f.GetColWidth(mixed.Name, "E"); err != nil || width < 10 {
		t.Errorf("a date's column is %v wide, %v", width, err)
	}
	if props, err := f.GetDocProps(); err != nil || props.Title != "Titel & <x>" || props.Created != "2026-01-15T10:30:00Z" {
		t.Errorf("%+v, %v", props, err)
	}
}

func TestXLSXKeepsTexts(t *testing.T) {
	f := xlsxOf(t, texts())
	for i, want := range ugly {
		cell := fmt.Sprintf("A%d", i+2)
		got, err := f.GetCellValue("Texts", cell)
		if err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", cell, got, want, err)
		}
	}
}

func TestXLSXOfWhatCannotBe(t *testing.T) {
	long := strings.Repeat("ä", 40_000)
	f := xlsxOf(t, grid.Table{Name: "T", Columns: []string{"a"}, Rows: rows([]any{"a\x00b\x1b"}, []any{long}, []any{"\xff"})})
	for cell, want := range map[string]int{"A2": 4, "A3": 32767, "A4": 1} {
		if got, err := f.GetCellValue("T", cell); err != nil || len([]rune(got)) != want {
			t.Errorf("%s has %d characters, want %d, %v", cell, len([]rune(got)), want, err)
		}
	}
}
