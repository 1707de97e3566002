package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

// box is a folder in memory.
type box struct {
	mu    sync.Mutex
	files map[string]*bytes.Buffer
}

func newBox() *box { return &box{files: map[string]*bytes.Buffer{}} }

type boxed struct{ *bytes.Buffer }

func (boxed) Close() error { return nil }

// Create implements Folder.
func (b *box) Create(name string) (io.WriteCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[name] = &bytes.Buffer{}
	return boxed{b.files[name]}, nil
}

// Scratch implements Folder.
func (b *box) Scratch() (*os.File, error) { return Scratch("") }

// grid is a table as read back: for each row the values by column, as text.
// Null is absent.
type grid []map[string]string

// run writes an export into memory and reads its tables back.
func run(t testing.TB, o store.Org, options Options, now time.Time) (Result, *box, map[string]grid) {
	t.Helper()
	b := newBox()
	made, err := Run(t.Context(), o, options, []byte("a key of the organisation"), now, b, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]grid{}
	for _, f := range made.Files {
		content := b.files[f.Name].Bytes()
		if int64(len(content)) != f.Size {
			t.Errorf("%s has %d bytes, want %d", f.Name, len(content), f.Size)
		}
		if f.Table == "" {
			continue
		}
		rows := map[reports.ExportFormat]func(testing.TB, []byte) grid{reports.Parquet: readParquet, reports.NDJSON: readNDJSON, reports.ExportCSV: readCSV}[options.Format](t, content)
		if int64(len(rows)) != f.Rows {
			t.Errorf("%s has %d rows, want %d", f.Name, len(rows), f.Rows)
		}
		tables[f.Table] = rows
	}
	return made, b, tables
}

func readCSV(t testing.TB, content []byte) (rows grid) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, value := range line {
			if value != "" {
				row[lines[0][i]] = value
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func readNDJSON(t testing.TB, content []byte) (rows grid) {
	t.Helper()
	for line := range strings.Lines(string(content)) {
		var object map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&object); err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for name, value := range object {
			if list, ok := value.([]any); ok {
				var texts []string
				for _, v := range list {
					texts = append(texts, fmt.Sprint(v))
				}
				value = strings.Join(texts, listSeparator)
			}
			row[name] = fmt.Sprint(value)
		}
		rows = append(rows, row)
	}
	return rows
}

func readParquet(t testing.TB, content []byte) (rows grid) {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	fields := file.Schema().Fields()
	for _, group := range file.RowGroups() {
		if n := group.NumRows(); n > groupRows+rowsAtOnce {
			t.Errorf("a row group has %d rows", n)
		}
		reader := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := reader.ReadRows(buf)
			for _, values := range buf[:n] {
				row := map[string]string{}
				for _, v := range values {
					if v.IsNull() {
						continue
					}
					name := fields[v.Column()].Name()
					text := printed(fields[v.Column()], v)
					if before, repeated := row[name]; repeated {
						text = before + listSeparator + text
					}
					row[name] = text
				}
				rows = append(rows, row)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// printed returns a value as CSV has it.
func printed(f parquet.Field, v parquet.Value) string {
	switch text := f.Type().String(); {
	case !f.Leaf():
	case strings.HasPrefix(text, "TIMESTAMP"):
		return string(appendValue(nil, pain.MomentColumn, float64(v.Int64())))
	case text == "DATE":
		return string(appendValue(nil, pain.DateColumn, float64(v.Int32())))
	case v.Kind() == parquet.Double:
		return string(appendValue(nil, pain.NumberColumn, v.Double()))
	}
	return v.String()
}

// add stores records of a patient, from bodies.
func add(t testing.TB, o store.Org, p pain.Patient, bodies ...string) {
	t.Helper()
	var records []pain.Record
	for _, body := range bodies {
		records = append(records, storetest.Record(t, p.ID, body))
	}
	if err := storetest.AddRecords(t.Context(), o, p.ID, records...); err != nil {
		t.Fatal(err)
	}
}

// analyticsParams parses filters.
func analyticsParams(t testing.TB, filters string, now time.Time) analytics.Params {
	t.Helper()
	p, err := analytics.StoredParameters([]byte(filters), analytics.ForExports, pain.DateOf(now))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
