package grid

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
)

// WriteCSV writes tables according to RFC 4180: UTF-8, CRLF, with a header
// line.
//
// Several tables are written to one file as follows: the first column is the
// name of the table, each table begins with its own header line, and all lines
// are padded to the width of the widest.
func WriteCSV(w io.Writer, tables []Table) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if len(tables) == 1 {
		if err := writeLines(out, tables[0], "", len(tables[0].Columns)); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
	width := 0
	for _, t := range tables {
		width = max(width, len(t.Columns))
	}
	for _, t := range tables {
		if err := writeLines(out, t, t.Name, width); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeLines writes one table. name, if any, precedes each line.
func writeLines(out *csv.Writer, t Table, name string, width int) error {
	line := make([]string, 0, width+1)
	begin := func() {
		line = line[:0]
		if name != "" {
			line = append(line, guard(name))
		}
	}
	end := func() error {
		if name != "" {
			for len(line) < width+1 {
				line = append(line, "")
			}
		}
		return out.Write(line)
	}
	begin()
	for _, c := range t.Columns {
		line = append(line, guard(c))
	}
	if err := end(); err != nil {
		return err
	}
	for row := range t.Rows {
		begin()
		for _, cell := range row {
			line = append(line, csvText(cell))
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

func csvText(cell any) string {
	switch v := plain(cell).(type) {
	case nil:
		return ""
	case string:
		return guard(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case pain.Date:
		return v.String()
	case time.Time:
		return pain.Moment(v)
	default:
		panic(fmt.Sprintf("grid: a cell of type %T", cell))
	}
}

// guard prevents spreadsheets from interpreting a text as a formula: a text
// that begins like a formula gets a leading apostrophe. Numbers are not
// affected.
func guard(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	if s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
