package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine is the maximum length of a line, and of a row of several lines,
// which is also the limit of a request body.
const maxLine = 1 << 20

// line is one line of a file without its end. Only the beginning is kept if it
// is too long.
type line struct {
	number  int
	text    string
	tooLong bool
}

// lines reads a file line by line in bounded memory.
type lines struct {
	r       *bufio.Reader
	number  int
	scratch []byte
	// kept are the lines since the start of a row. Those from at on will be
	// read again.
	kept []line
	at   int
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line, or io.EOF.
func (l *lines) next() (line, error) {
	if l.at == len(l.kept) {
		read, err := l.read()
		if err != nil {
			return line{}, err
		}
		l.kept = append(l.kept, read)
	}
	l.at++
	return l.kept[l.at-1], nil
}

// back makes next return the last n lines again, which must have been read
// since the last call of forget.
func (l *lines) back(n int) { l.at -= n }

// forget releases the lines that next has returned.
func (l *lines) forget() {
	if l.at > len(l.kept)/2 { // otherwise copying would cost more than reading
		l.kept = append(l.kept[:0], l.kept[l.at:]...)
		l.at = 0
	}
}

// nextFilled forgets earlier lines and returns the next one that is not empty.
func (l *lines) nextFilled() (line, error) {
	for {
		l.forget()
		if next, err := l.next(); err != nil || strings.TrimSpace(next.text) != "" {
			return next, err
		}
	}
}

// read reads a line from the file.
func (l *lines) read() (line, error) {
	l.scratch = l.scratch[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if room := maxLine - len(l.scratch); len(part) > room+2 { // the line ending does not count
			part, tooLong = part[:room], true
		}
		if !tooLong || len(l.scratch) < maxLine {
			l.scratch = append(l.scratch, part...)
		}
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.scratch) > 0:
		default:
			return line{}, err
		}
		l.number++
		text := bytes.TrimSuffix(bytes.TrimSuffix(l.scratch, []byte("\n")), []byte("\r"))
		return line{number: l.number, text: string(text), tooLong: tooLong || len(text) > maxLine}, nil
	}
}
