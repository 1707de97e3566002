package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"anodyne.example/anodyne/internal/store/reports"
)

// splitBytes is the size at which a file of a bulk export ends and the next of
// its type begins, so that clients can read them in parallel. Some tests reduce
// it.
var splitBytes int64 = 64 << 20

// bulkFiles are the files of a bulk export, by table.
type bulkFiles struct {
	to     Folder
	open   map[string]*bulkFile
	number map[string]int
	done   []reports.ExportFile
}

// bulkFile is a file that is being written.
type bulkFile struct {
	name string
	out  *counted
	rows int64
}

func newBulkFiles(to Folder) *bulkFiles {
	return &bulkFiles{to: to, open: map[string]*bulkFile{}, number: map[string]int{}}
}

// write adds lines to the current file of a table.
func (f *bulkFiles) write(table string, lines *bulkLines) error {
	file := f.open[table]
	if file == nil {
		f.number[table]++
		file = &bulkFile{name: table + "." + strconv.Itoa(f.number[table]) + ".ndjson"}
		w, err := f.to.Create(file.name)
		if err != nil {
			return err
		}
		file.out = newCounted(w)
		f.open[table] = file
	}
	if _, err := file.out.Write(lines.bytes); err != nil {
		return fmt.Errorf("%s: %w", file.name, err)
	}
	if file.rows += lines.count; file.out.size < splitBytes {
		return nil
	}
	delete(f.open, table)
	return f.end(table, file)
}

func (f *bulkFiles) end(table string, file *bulkFile) error {
	if err := file.out.w.Close(); err != nil {
		return fmt.Errorf("%s: %w", file.name, err)
	}
	f.done = append(f.done, file.out.described(file.name, table, file.rows))
	return nil
}

// close ends all files.
func (f *bulkFiles) close() (err error) {
	for table, file := range f.open {
		err = errors.Join(err, f.end(table, file))
	}
	return err
}

// described returns the files, ordered by table and number.
func (f *bulkFiles) described() []reports.ExportFile {
	place := func(x reports.ExportFile) int {
		return slices.Index(slices.Concat(bulkTypes, []string{Deleted, errorFile}), x.Table)
	}
	slices.SortStableFunc(f.done, func(a, b reports.ExportFile) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return f.done
}
