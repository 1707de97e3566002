package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// cellText is a cell as a program prints it.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, fmt.Sprint(p))
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

// sameCell compares a cell of CSV.
func sameCell(got string, want any) bool {
	text := cellText(want)
	if n, ok := want.(json.Number); ok {
		a, errA := strconv.ParseFloat(got, 64)
		b, errB := n.Float64()
		return errA == nil && errB == nil && a == b
	}
	if text != "" && strings.ContainsAny(text[:1], "=+-@") { // a formula to a spreadsheet
		text = "'" + text
	}
	return got == text
}

func checkCSV(t *testing.T, data []byte, tables []wanted) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lead := 0
	if len(tables) > 1 {
		lead = 1
	}
	for _, w := range tables {
		for i, row := range append([][]any{anyOf(w.header)}, w.rows...) {
			if len(lines) == 0 {
				t.Fatalf("csv %s: line %d is missing", w.name, i)
			}
			line := lines[0]
			lines = lines[1:]
			if lead == 1 && line[0] != w.name {
				t.Fatalf("csv: line %d of %s is of %s", i, w.name, line[0])
			}
			for k, got := range line[lead:] {
				var want any
				if k < len(row) {
					want = row[k]
				}
				if !sameCell(got, want) {
					t.Errorf("csv %s, line %d %v, column %d: %q, want %v", w.name, i, row[:min(2, len(row))], k, got, want)
				}
			}
			if len(line)-lead < len(row) {
				t.Errorf("csv %s, line %d has %d cells", w.name, i, len(line)-lead)
			}
		}
	}
	if len(lines) > 0 {
		t.Errorf("csv: %d lines more, such as %q", len(lines), lines[0])
	}
}

func anyOf(list []string) (cells []any) {
	for _, s := range list {
		cells = append(cells, s)
	}
	return cells
}

var (
	isDay    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	isMoment = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

func checkXLSX(t *testing.T, data []byte, tables []wanted) {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	var names []string
	for _, w := range tables {
		names = append(names, w.name)
	}
	if got := book.GetSheetList(); !slices.Equal(got, names) {
		t.Fatalf("sheets %q, want %q", got, names)
	}
	for _, w := range tables {
		rows, err := book.GetRows(w.name, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(w.rows)+1 {
			t.Errorf("xlsx %s has %d rows, want %d", w.name, len(rows), len(w.rows)+1)
		}
		for i, row := range append([][]any{anyOf(w.header)}, w.rows...) {
			if i < len(rows) && len(rows[i]) > len(row) {
				t.Errorf("xlsx %s, row %d has %d cells: %q", w.name, i, len(rows[i]), rows[i])
			}
			for k, want := range row {
				at, err := excelize.CoordinatesToCellName(k+1, i+1)
				if err != nil {
					t.Fatal(err)
				}
				raw := ""
				if i < len(rows) && k < len(rows[i]) {
					raw = rows[i][k]
				}
				if problem := cellProblem(book, w.name, at, raw, want); problem != "" {
					t.Errorf("xlsx %s %s %v: %s, want %v", w.name, at, row[:min(2, len(row))], problem, want)
				}
			}
		}
	}
}

// cellProblem says what is wrong with a cell: its type, its value or how it is
// shown.
func cellProblem(book *excelize.File, sheet, at, raw string, want any) string {
	kind, err := book.GetCellType(sheet, at)
	if err != nil {
		return err.Error()
	}
	number := func(want float64, tolerance float64) string {
		got, err := strconv.ParseFloat(raw, 64)
		if kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber || err != nil || got < want-tolerance || got > want+tolerance {
			return fmt.Sprintf("%q of type %d", raw, kind)
		}
		return ""
	}
	shown := func(text string) string {
		if got, err := book.GetCellValue(sheet, at); err != nil || got != text {
			return fmt.Sprintf("shown as %q, %v", got, err)
		}
		return ""
	}
	switch v := want.(type) {
	case nil:
		if raw != "" || kind != excelize.CellTypeUnset {
			return fmt.Sprintf("%q of type %d", raw, kind)
		}
		return ""
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return err.Error()
		}
		return number(f, 0)
	case bool:
		if kind != excelize.CellTypeBool || raw != map[bool]string{true: "1", false: "0"}[v] && !strings.EqualFold(raw, fmt.Sprint(v)) {
			return fmt.Sprintf("%q of type %d", raw, kind)
		}
		return ""
	}
	text := cellText(want)
	const epoch = 25569 // days from 1899-12-30 to 1970
	if isDay.MatchString(text) {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return err.Error()
		}
		return number(float64(day.Unix()/86400+epoch), 0) + shown(text)
	}
	if isMoment.MatchString(text) {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return err.Error()
		}
		return number(float64(moment.UnixMilli())/86_400_000+epoch, 1e-9) + shown(moment.Format(time.DateTime))
	}
	if kind != excelize.CellTypeInlineString && (text != "" || kind != excelize.CellTypeUnset) || raw != text {
		return fmt.Sprintf("%q of type %d", raw, kind)
	}
	return ""
}
