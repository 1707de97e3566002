package grid

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
)

// Book holds the metadata of an XLSX file.
type Book struct {
	Title string
	// Created is the date of the file. It is set by the caller, so that the
	// same data gives the same bytes.
	Created time.Time
}

// The limits of the format.
const (
	maxRows = 1 << 20
	maxText = 32767
)

// ErrTooLong is returned if a table has too many rows for a sheet.
var ErrTooLong = errors.New("a sheet has at most 1,048,576 rows")

// WriteXLSX writes a sheet for each table: a bold header that stays in view,
// columns as wide as their content, real numbers, dates and booleans, and text
// as text.
//
// The format is written directly, part by part in a fixed order, instead of
// with a library. So nothing is held in memory or written to temporary files,
// which would expose patient data.
func WriteXLSX(w io.Writer, book Book, tables []Table) error {
	z := zip.NewWriter(w)
	part := func(name, content string) error {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, header+content)
		}
		return err
	}
	if err := errors.Join(
		part("[Content_Types].xml", contentTypes(len(tables))),
		part("_rels/.rels", rootRelations),
		part("docProps/core.xml", properties(book)),
		part("xl/workbook.xml", workbook(tables)),
		part("xl/_rels/workbook.xml.rels", workbookRelations(len(tables))),
		part("xl/styles.xml", styles),
	); err != nil {
		return err
	}
	for i, t := range tables {
		f, err := z.Create("xl/worksheets/sheet" + strconv.Itoa(i+1) + ".xml")
		if err != nil {
			return err
		}
		s := sheet{w: bufio.NewWriterSize(f, 32<<10)}
		if err := s.write(t); err != nil {
			return err
		}
	}
	return z.Close()
}

// sheet writes one sheet.
type sheet struct {
	w   *bufio.Writer
	buf []byte
	row int
}

// widthRows is how many rows are examined to determine the widths of columns.
const widthRows = 200

func (s *sheet) write(t Table) error {
	_, _ = s.w.WriteString(header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`)
	for i, width := range widths(t) {
		fmt.Fprintf(s.w, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, width)
	}
	_, _ = s.w.WriteString(`</cols><sheetData>`)
	cells := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = c
	}
	if err := s.line(cells, bold); err != nil {
		return err
	}
	for row := range t.Rows {
		if err := s.line(row, normal); err != nil {
			return err
		}
	}
	_, _ = s.w.WriteString(`</sheetData></worksheet>`)
	return s.w.Flush() // returns the error of any earlier write
}

// The cell formats, in the order of the styles.
const (
	normal = iota
	bold
	day
	moment
)

func (s *sheet) line(cells []any, style int) error {
	if s.row++; s.row > maxRows {
		return ErrTooLong
	}
	b := append(s.buf[:0], `<row r="`...)
	b = append(strconv.AppendInt(b, int64(s.row), 10), `">`...)
	for i, cell := range cells {
		b = appendCell(b, i, s.row, plain(cell), style)
	}
	s.buf = append(b, `</row>`...)
	_, err := s.w.Write(s.buf)
	return err
}

func appendCell(b []byte, column, row int, cell any, style int) []byte {
	if cell == nil {
		return b
	}
	switch cell.(type) {
	case pain.Date:
		style = day
	case time.Time:
		style = moment
	}
	b = append(append(b, `<c r="`...), columnName(column)...)
	b = append(strconv.AppendInt(b, int64(row), 10), '"')
	if style != normal {
		b = append(strconv.AppendInt(append(b, ` s="`...), int64(style), 10), '"')
	}
	switch v := cell.(type) {
	case string:
		b = append(b, ` t="inlineStr"><is><t xml:space="preserve">`...)
		b = append(appendText(b, v), `</t></is></c>`...)
	case bool:
		b = append(b, ` t="b"><v>`...)
		if v {
			b = append(b, '1')
		} else {
			b = append(b, '0')
		}
		b = append(b, `</v></c>`...)
	case int:
		b = append(strconv.AppendInt(append(b, `><v>`...), int64(v), 10), `</v></c>`...)
	case float64:
		b = append(strconv.AppendFloat(append(b, `><v>`...), v, 'f', -1, 64), `</v></c>`...)
	case pain.Date:
		b = append(strconv.AppendInt(append(b, `><v>`...), serial(v), 10), `</v></c>`...)
	case time.Time:
		b = append(strconv.AppendFloat(append(b, `><v>`...), serialMoment(v), 'f', -1, 64), `</v></c>`...)
	default:
		panic(fmt.Sprintf("grid: a cell of type %T", cell))
	}
	return b
}

// serial returns the number of a day. The format counts from 1899-12-30 and
// assumes that 29 February 1900 existed, so dates before March 1900 are off by
// one in some programs.
func serial(d pain.Date) int64 { return int64(d.DayNumber()) + epoch }

// epoch is the number of 1970-01-01.
const epoch = 25569

// serialMoment returns the number of a time. The fraction is that of the day
// in UTC.
func serialMoment(at time.Time) float64 {
	return epoch + float64(at.UnixMilli())/(24*60*60*1000)
}

// columnName returns A, B, ..., Z, AA, ...
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// widths estimates the widths of columns, in characters, from the first rows.
func widths(t Table) []int {
	list := make([]int, len(t.Columns))
	see := func(i, size int) { list[i] = min(max(list[i], size+2), 60) }
	for i, c := range t.Columns {
		see(i, utf8.RuneCountInString(c)+1)
	}
	n := 0
	for row := range t.Rows {
		for i, cell := range row {
			see(i, utf8.RuneCountInString(csvText(cell)))
		}
		if n++; n == widthRows {
			break
		}
	}
	return list
}

// appendText appends a text as XML. Characters that XML cannot represent
// become the replacement character; sequences that programs would treat as an
// escape, such as _x0041_, are escaped.
func appendText(b []byte, s string) []byte {
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText-1]) + "…"
	}
	for i, r := range s {
		switch {
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '"':
			b = append(b, "&quot;"...)
		case r == '\r':
			b = append(b, "&#13;"...)
		case r == '_' && isEscape(s[i:]):
			b = append(b, "_x005F_"...)
		case r == '\t' || r == '\n' || r >= ' ' && r < 0xD800 || r >= 0xE000 && r != 0xFFFE && r != 0xFFFF:
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, "\uFFFD"...)
		}
	}
	return b
}

// isEscape reports whether a text begins with _xHHHH_.
func isEscape(s string) bool {
	if len(s) < 7 || s[1] != 'x' || s[6] != '_' {
		return false
	}
	return strings.Trim(s[2:6], "0123456789abcdefABCDEF") == ""
}
