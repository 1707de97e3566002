package importer

import (
	"errors"
	"io"
	"strings"
)

// csvReader reads RFC 4180 rows in bounded memory. A row that cannot be read
// only affects its own line: an unclosed quote does not consume the rest of
// the file.
type csvReader struct {
	lines   *lines
	comma   byte
	columns int // of the row before
}

// row is one entry of a file.
type row struct {
	line   int
	fields []string // of a CSV file
	// text is a line of NDJSON, or an unreadable line of a CSV file.
	text string
	// problem is why the row cannot be read.
	problem string
}

// size returns the number of bytes of the row, including columns that are not
// imported.
func (r row) size() int {
	n := len(r.text)
	for _, field := range r.fields {
		n += len(field)
	}
	return n
}

const (
	problemTooLong  = "The line is longer than 1 MiB."
	problemOpen     = "A quoted field is not closed within 1 MiB; double the quotes that are part of the text."
	problemBare     = "An unquoted field contains a quote; quote the field and double the quotes in it."
	problemAfter    = "Text follows a closing quote; double the quotes that are part of the text."
	problemEncoding = "The line is not valid UTF-8; convert the file, for example from Windows-1252."
	problemNUL      = "The line contains a NUL character."
)

// next returns the next row, or io.EOF. It skips empty lines.
func (c *csvReader) next() (row, error) {
	first, err := c.lines.nextFilled()
	if err != nil {
		return row{}, err
	}
	return c.assemble(first)
}

// assemble reads all lines of a row.
func (c *csvReader) assemble(first line) (row, error) {
	p := csvParser{comma: c.comma, fields: make([]string, 0, c.columns)}
	taken := []line{first}
	size := 0
	for at := first; ; {
		problem := p.feed(at.text)
		size += len(at.text) + 1
		switch {
		case first.tooLong:
			problem = problemTooLong
		case at.tooLong:
			problem = problemOpen
		case problem == "" && !p.quoted:
			c.columns = len(p.fields)
			return row{line: first.number, fields: p.fields, problem: textProblem(taken)}, nil
		case problem == "" && size > maxLine:
			problem = problemOpen
		}
		if problem == "" {
			var err error
			if at, err = c.lines.next(); errors.Is(err, io.EOF) {
				problem = problemOpen
			} else if err != nil {
				return row{}, err
			} else {
				taken = append(taken, at)
				continue
			}
		}
		c.lines.back(len(taken) - 1)
		return row{line: first.number, text: first.text, problem: problem}, nil
	}
}

// csvParser parses a row line by line.
type csvParser struct {
	comma  byte
	fields []string
	field  []byte
	quoted bool // the line ended inside a quoted field
}

// feed processes one line and returns what is wrong with it, or "".
func (p *csvParser) feed(s string) (problem string) {
	if p.quoted {
		p.field = append(p.field, '\n')
	}
	for {
		if p.quoted {
			end := strings.IndexByte(s, '"')
			if end < 0 {
				p.field = append(p.field, s...)
				return ""
			}
			p.field = append(p.field, s[:end]...)
			s = s[end+1:]
			if strings.HasPrefix(s, `"`) {
				p.field = append(p.field, '"')
				s = s[1:]
				continue
			}
			p.quoted = false
			p.fields = append(p.fields, string(p.field))
			switch {
			case s == "":
				return ""
			case s[0] != p.comma:
				return problemAfter
			}
			s = s[1:]
		}
		if strings.HasPrefix(s, `"`) {
			p.quoted, p.field, s = true, p.field[:0], s[1:]
			continue
		}
		field, end := s, strings.IndexByte(s, p.comma)
		if end >= 0 {
			field = s[:end]
		}
		if strings.IndexByte(field, '"') >= 0 {
			return problemBare
		}
		p.fields = append(p.fields, field)
		if end < 0 {
			return ""
		}
		s = s[end+1:]
	}
}

// sniffComma returns the separator of a header: the most frequent of comma,
// semicolon and tab outside quotes.
func sniffComma(header string) byte {
	counts := map[rune]int{}
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(";\t") {
		if counts[rune(c)] > counts[rune(best)] {
			best = c
		}
	}
	return best
}
