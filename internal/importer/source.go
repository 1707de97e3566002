package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// source is a file being read.
type source struct {
	file   *os.File
	size   int64
	count  *counter
	rows   interface{ next() (row, error) }
	header []string // of a CSV file
	comma  byte
	isCSV  bool
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// openSource opens a file and detects its format: a file that begins with "{"
// has a JSON object on each line; anything else is CSV with a header.
func openSource(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &source{file: file}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return s, nil
}

// begin reads up to the first row. It can be called again to start over.
func (s *source) begin() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file; an import may read its files twice")
	}
	s.size = info.Size()
	// Two sources can read a file at a time.
	s.count = &counter{r: io.NewSectionReader(s.file, 0, s.size)}
	l := newLines(s.count)
	mark, _ := l.r.Peek(3)
	switch {
	case strings.HasPrefix(string(mark), "\ufeff"):
		_, _ = l.r.Discard(3) // already read
	case strings.HasPrefix(string(mark), "\xff\xfe"), strings.HasPrefix(string(mark), "\xfe\xff"):
		return errors.New("is UTF-16; save it as UTF-8")
	}
	if isObject(l.r) {
		s.rows = &objectReader{l}
		return nil
	}
	return s.beginCSV(l)
}

// isObject reports whether the first character is "{", ignoring empty lines.
func isObject(r *bufio.Reader) bool {
	for n := 1; n <= 1024; n++ {
		text, err := r.Peek(n)
		if err != nil {
			return false
		}
		switch text[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[n-1] == '{'
		}
	}
	return false
}

func (s *source) beginCSV(l *lines) error {
	first, err := l.next()
	for err == nil && strings.TrimSpace(first.text) == "" {
		first, err = l.next()
	}
	if errors.Is(err, io.EOF) {
		return errors.New("is empty; the first line must be a header that names the columns")
	}
	if err != nil {
		return err
	}
	s.isCSV, s.comma = true, sniffComma(first.text)
	l.back(1)
	reader := &csvReader{lines: l, comma: s.comma}
	header, err := reader.next()
	if err != nil {
		return err
	}
	if header.problem != "" {
		return fmt.Errorf("the header cannot be read: %s", header.problem)
	}
	s.header = header.fields
	for i, name := range s.header {
		if s.header[i] = strings.TrimSpace(name); s.header[i] == "" {
			s.header[i] = fmt.Sprintf("column %d", i+1)
		}
	}
	s.rows = reader
	return nil
}

// objectReader reads NDJSON.
type objectReader struct{ lines *lines }

func (o *objectReader) next() (row, error) {
	l, err := o.lines.nextFilled()
	if err != nil {
		return row{}, err
	}
	r := row{line: l.number, text: l.text, problem: textProblem([]line{l})}
	if l.tooLong {
		r.problem = problemTooLong
	}
	return r, nil
}

// textProblem returns what is wrong with the characters of a row, or "".
func textProblem(taken []line) string {
	for _, l := range taken {
		if !utf8.ValidString(l.text) {
			return problemEncoding
		}
		if strings.IndexByte(l.text, 0) >= 0 {
			return problemNUL
		}
	}
	return ""
}
