package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// The columns or fields that describe what is wrong with a line. They are
// ignored when a corrected file of rejected lines is imported.
const (
	errorLine      = "error_line"
	errorParameter = "error_parameter"
	errorMessage   = "error_message"
	errorText      = "error_text" // an unreadable line
)

var ourColumns = []string{errorLine, errorParameter, errorMessage, errorText}

func isOurs(column string) bool { return slices.Contains(ourColumns, column) }

// refused is the file of rejected lines, in the format of their source. It is
// created with the first one.
type refused struct {
	mu      sync.Mutex
	path    string
	source  string // must not be overwritten
	header  []string
	isCSV   bool
	file    *os.File
	writer  *csv.Writer
	comma   rune
	ordinal []int // columns of the source that are not ours
	count   int64
}

func newRefused(path, sourcePath string, s *source) *refused {
	r := &refused{path: path, source: sourcePath, isCSV: s.isCSV, comma: rune(s.comma)}
	for i, name := range s.header {
		if !isOurs(name) {
			r.header, r.ordinal = append(r.header, name), append(r.ordinal, i)
		}
	}
	return r
}

func (r *refused) open() (err error) {
	mine, err := os.Stat(r.path)
	if err == nil {
		theirs, err := os.Stat(r.source)
		if err != nil {
			return err
		}
		if os.SameFile(mine, theirs) {
			return fmt.Errorf("%s would be overwritten by its own error file; name another file with --errors", r.path)
		}
	}
	if r.file, err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	// An existing file keeps its mode, but the content is patient data. Devices
	// such as /dev/null are left alone.
	if info, err := r.file.Stat(); err != nil {
		return err
	} else if info.Mode().IsRegular() {
		if err := r.file.Chmod(0o600); err != nil {
			return err
		}
	}
	if !r.isCSV {
		return nil
	}
	r.writer = csv.NewWriter(r.file)
	r.writer.Comma = r.comma
	return r.writer.Write(slices.Concat(ourColumns, r.header))
}

// add adds a line and everything that is wrong with it.
func (r *refused) add(at row, faults []fault.Field) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	if r.file == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	var parameters, messages []string
	for _, f := range faults[:min(len(faults), 20)] {
		if f.Parameter != "" {
			parameters = append(parameters, f.Parameter)
		}
		messages = append(messages, f.Message)
	}
	what := []string{strconv.Itoa(at.line), strings.Join(parameters, " "), strings.Join(messages, " "), ""}
	if r.isCSV {
		return r.addCSV(at, what)
	}
	return r.addObject(at, what)
}

func (r *refused) addCSV(at row, what []string) error {
	what[3] = strings.ToValidUTF8(at.text, "\ufffd")
	if len(r.ordinal) == 0 || len(at.fields) == 0 {
		return r.writer.Write(append(what, make([]string, len(r.header))...))
	}
	for _, i := range r.ordinal {
		value := ""
		if i < len(at.fields) {
			value = strings.ToValidUTF8(at.fields[i], "\ufffd")
		}
		what = append(what, value)
	}
	return r.writer.Write(what)
}

func (r *refused) addObject(at row, what []string) error {
	b := append([]byte(`{"`+errorLine+`":`), what[0]...)
	b = strictjson.AppendString(append(b, `,"`+errorParameter+`":`...), what[1])
	b = strictjson.AppendString(append(b, `,"`+errorMessage+`":`...), what[2])
	// A line that is an object remains one, so that it can be corrected and
	// imported from this file.
	if _, err := strictjson.Parse([]byte(at.text)); err == nil && at.problem == "" {
		err := eachMember(at.text, func(name string, value jsontext.Value) error {
			if !isOurs(name) {
				b = append(append(strictjson.AppendString(append(b, ','), name), ':'), value...)
			}
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		b = strictjson.AppendString(append(b, `,"`+errorText+`":`...), at.text)
	}
	_, err := r.file.Write(append(b, "}\n"...))
	return err
}

func (r *refused) close() error {
	if r.file == nil {
		return nil
	}
	var err error
	if r.writer != nil {
		r.writer.Flush()
		err = r.writer.Error()
	}
	return errors.Join(err, r.file.Close())
}

// faultsOf lists the details of a fault. It returns false if err is not a
// fault of the line.
func faultsOf(err error) ([]fault.Field, bool) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.InvalidParameter && e.Code != fault.InvalidBody && e.Code != fault.NotFound {
		return nil, false
	}
	if all, several := e.Details["errors"].([]fault.Field); several {
		return all, true
	}
	parameter, _ := e.Details["parameter"].(string)
	return []fault.Field{{Parameter: parameter, Message: e.Message}}, true
}
