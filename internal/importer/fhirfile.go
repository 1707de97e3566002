package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/strictjson"
)

// fhirFile is a file with FHIR resources: a Bundle, or one resource per line.
type fhirFile struct {
	path    string
	file    *os.File
	size    int64
	kind    string // type of the first resource
	bundle  bool
	refused *refused
}

// resource is one resource of a file.
type resource struct {
	file    *fhirFile
	at      int   // the line, or the entry of the Bundle
	offset  int64 // of the line
	kind    string
	fullURL string
	body    []byte
	problem string
}

// openFHIR opens a file if it has FHIR resources, and returns nil otherwise.
func openFHIR(path string) (*fhirFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, file.Close()) // reported when it is opened as another file
	}
	kind := firstType(skipMark(bufio.NewReader(file)))
	if kind == "" {
		return nil, file.Close()
	}
	return &fhirFile{path: path, file: file, size: info.Size(), kind: kind, bundle: kind == "Bundle"}, nil
}

// skipMark skips a byte order mark.
func skipMark(r *bufio.Reader) *bufio.Reader {
	if mark, _ := r.Peek(3); string(mark) == "\ufeff" {
		_, _ = r.Discard(3) // already read
	}
	return r
}

// firstType returns the type of the first resource of a file, or "" if it does
// not begin with one. A file of rejected resources may begin with a line that
// could not be read.
func firstType(r *bufio.Reader) string {
	for range 1000 {
		if start, _ := r.Peek(len(unreadableStart)); string(start) != unreadableStart {
			return resourceType(r)
		}
		line, _, err := readLine(r)
		if kind := resourceType(bytes.NewReader(line)); kind != "" || err != nil {
			return kind
		}
	}
	return ""
}

const unreadableStart = `{"` + errorLine + `":`

// resourceType returns the type of the resource that a text begins with, or ""
// if it does not begin with one.
func resourceType(r io.Reader) string {
	d := jsontext.NewDecoder(r)
	if start, err := d.ReadToken(); err != nil || start.Kind() != '{' {
		return ""
	}
	for range 1000 {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return ""
		}
		if name.String() != "resourceType" {
			if err := d.SkipValue(); err != nil {
				return ""
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil || value.Kind() != '"' {
			return ""
		}
		return value.String()
	}
	return ""
}

// each calls fn for all resources of the file. read is called with the number
// of bytes read.
func (f *fhirFile) each(read func(int64), fn func(resource) error) error {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	count := &counter{r: f.file}
	buffered := skipMark(bufio.NewReaderSize(count, 64<<10))
	if f.bundle {
		return f.eachEntry(buffered, count, read, fn)
	}
	return f.eachLine(buffered, read, fn)
}

// eachLine reads one resource per line, in bounded memory.
func (f *fhirFile) eachLine(r *bufio.Reader, read func(int64), fn func(resource) error) error {
	var offset int64 // of the line
	for number := 1; ; number++ {
		line, length, err := readLine(r)
		if len(line) > 0 || length > 0 {
			if text := bytes.TrimSpace(line); len(text) > 0 {
				one := resource{file: f, at: number, offset: offset, body: text}
				switch {
				case length > fhir.MaxBytes:
					one.problem = "The line is longer than 4 MiB."
				default:
					one.body = withoutOurs(text)
					one.kind = resourceType(bytes.NewReader(one.body))
				}
				if err := fn(one); err != nil {
					return err
				}
			}
			offset += length
			read(offset)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line, of which it returns only the beginning if it is too
// long, and its length.
func readLine(r *bufio.Reader) (line []byte, length int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		if len(line) <= fhir.MaxBytes {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, length, err
		}
	}
}

// again reads the line of a resource again.
func (r *resource) again() (resource, error) {
	line, _, err := readLine(bufio.NewReader(io.NewSectionReader(r.file.file, r.offset, r.file.size-r.offset)))
	if err != nil && !errors.Is(err, io.EOF) {
		return *r, err
	}
	full := *r
	full.body = withoutOurs(bytes.TrimSpace(line))
	return full, nil
}

// withoutOurs removes the fields that describe what is wrong, from a line of a
// file of rejected resources.
func withoutOurs(line []byte) []byte {
	if !bytes.HasPrefix(line, []byte(unreadableStart)) {
		return line
	}
	b := []byte{'{'}
	if err := eachMember(string(line), func(name string, value jsontext.Value) error {
		if isOurs(name) {
			return nil
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(strictjson.AppendString(b, name), ':'), value...)
		return nil
	}); err != nil {
		return line
	}
	return append(b, '}')
}

// eachEntry reads the entries of a Bundle, one at a time.
func (f *fhirFile) eachEntry(r io.Reader, count *counter, read func(int64), fn func(resource) error) error {
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return notBundle(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return notBundle(err)
		}
		if name.String() != "entry" || d.PeekKind() != '[' {
			if err := d.SkipValue(); err != nil {
				return notBundle(err)
			}
			continue
		}
		if _, err := d.ReadToken(); err != nil {
			return notBundle(err)
		}
		for at := 0; d.PeekKind() != ']'; at++ {
			value, err := d.ReadValue()
			if err != nil {
				return notBundle(err)
			}
			one := resource{file: f, at: at}
			var entry struct {
				FullURL  string          `json:"fullUrl"`
				Resource json.RawMessage `json:"resource"`
			}
			if err := json.Unmarshal(value, &entry); err != nil {
				one.problem = "The entry of the Bundle cannot be read."
			}
			one.fullURL, one.body = entry.FullURL, entry.Resource
			if len(one.body) > 0 {
				one.kind = resourceType(bytes.NewReader(one.body))
			}
			if err := fn(one); err != nil {
				return err
			}
			read(count.n)
		}
		if _, err := d.ReadToken(); err != nil {
			return notBundle(err)
		}
	}
	return nil
}

// notBundle is the error of a file that ends early or is not JSON.
func notBundle(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the Bundle ends early; the file is incomplete")
	}
	return fmt.Errorf("the Bundle is not JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// expression returns where an element is in the file.
func (r *resource) expression(of string) string {
	if !r.file.bundle {
		return of
	}
	_, element, _ := strings.Cut(of, ".")
	path := fmt.Sprintf("Bundle.entry[%d].resource", r.at)
	if element != "" {
		path += "." + element
	}
	return path
}
