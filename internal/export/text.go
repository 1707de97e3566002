package export

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// listSeparator separates the elements of a list in CSV. None contains it.
const listSeparator = "|"

// textBuffer is the size of the buffer of a text file.
const textBuffer = 64 << 10

// csvWriter writes a table as CSV by RFC 4180, with a header. A missing value
// is an empty field.
type csvWriter struct {
	w       *bufio.Writer
	columns []pain.Column
	line    []byte
}

func newCSVWriter(w io.Writer, columns []pain.Column) (*csvWriter, error) {
	c := &csvWriter{w: bufio.NewWriterSize(w, textBuffer), columns: columns}
	for i := range columns {
		c.line = appendField(c.separated(i), columns[i].Name)
	}
	return c, c.end()
}

// separated appends the comma before a field.
func (c *csvWriter) separated(i int) []byte {
	if i > 0 {
		return append(c.line, ',')
	}
	return c.line
}

func (c *csvWriter) write(cells []pain.Cell) error {
	for i := range cells {
		c.line = c.separated(i)
		if !cells[i].Set {
			continue
		}
		switch c.columns[i].Type {
		case pain.TextColumn:
			c.line = appendField(c.line, cells[i].Text)
		case pain.TextsColumn:
			c.line = appendField(c.line, strings.Join(cells[i].Texts, listSeparator))
		default:
			c.line = appendValue(c.line, c.columns[i].Type, cells[i].Number)
		}
	}
	return c.end()
}

// end writes the line.
func (c *csvWriter) end() error {
	_, err := c.w.Write(append(c.line, '\r', '\n'))
	c.line = c.line[:0]
	return err
}

func (c *csvWriter) close() error { return c.w.Flush() }

// appendField appends a text, quoted if necessary.
func appendField(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") && s == strings.TrimSpace(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// appendValue appends a value that is not a text.
func appendValue(b []byte, t pain.ColumnType, f float64) []byte {
	switch t {
	case pain.BooleanColumn:
		return strconv.AppendBool(b, f != 0)
	case pain.DateColumn:
		return time.Unix(int64(f)*(millisecondsPerDay/1000), 0).UTC().AppendFormat(b, time.DateOnly)
	case pain.MomentColumn:
		return time.UnixMilli(int64(f)).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// ndjsonWriter writes a table as one JSON object per line. Missing values are
// left out.
type ndjsonWriter struct {
	w       *bufio.Writer
	columns []pain.Column
	names   [][]byte // with quotes and colon
	line    []byte
}

func newNDJSONWriter(w io.Writer, columns []pain.Column) *ndjsonWriter {
	n := &ndjsonWriter{w: bufio.NewWriterSize(w, textBuffer), columns: columns}
	for i := range columns {
		n.names = append(n.names, append(strictjson.AppendString(nil, columns[i].Name), ':'))
	}
	return n
}

func (n *ndjsonWriter) write(cells []pain.Cell) error {
	b := append(n.line[:0], '{')
	for i := range cells {
		if !cells[i].Set {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, n.names[i]...)
		switch t := n.columns[i].Type; t {
		case pain.TextColumn:
			b = strictjson.AppendString(b, cells[i].Text)
		case pain.TextsColumn:
			b = append(b, '[')
			for j, s := range cells[i].Texts {
				if j > 0 {
					b = append(b, ',')
				}
				b = strictjson.AppendString(b, s)
			}
			b = append(b, ']')
		case pain.DateColumn, pain.MomentColumn:
			b = append(appendValue(append(b, '"'), t, cells[i].Number), '"')
		default:
			b = appendValue(b, t, cells[i].Number)
		}
	}
	n.line = append(b, '}', '\n')
	_, err := n.w.Write(n.line)
	return err
}

func (n *ndjsonWriter) close() error { return n.w.Flush() }
