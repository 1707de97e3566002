package export

import (
	"errors"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/reports"
)

// DictionaryName is the file that describes every column of an export. It is
// CSV in every format.
const DictionaryName = "data_dictionary.csv"

var dictionaryColumns = []pain.Column{{Name: "file"}, {Name: "column"}, {Name: "type"}, {Name: "unit"}, {Name: "meaning"}}

// writeDictionary writes the data dictionary: a row for each file, with its
// meaning, and a row for each of its columns.
func writeDictionary(to Folder, sinks []*sink) (file reports.ExportFile, err error) {
	w, err := to.Create(DictionaryName)
	if err != nil {
		return file, err
	}
	out, rows := newCounted(w), int64(0)
	defer func() {
		err = errors.Join(err, w.Close())
		file = out.described(DictionaryName, "", rows)
	}()
	c, err := newCSVWriter(out, dictionaryColumns)
	if err != nil {
		return file, err
	}
	line := func(file, column, kind, unit, about string) error {
		rows++
		return c.write([]pain.Cell{pain.TextCell(file), pain.TextCell(column), pain.TextCell(kind), pain.TextCell(unit), pain.TextCell(about)})
	}
	for _, s := range sinks {
		if err := line(s.file.Name, "", "table", "", s.table.about); err != nil {
			return file, err
		}
		for i := range s.columns {
			column := &s.columns[i]
			if err := line(s.file.Name, column.Name, column.Type.String(), column.Unit, column.About); err != nil {
				return file, err
			}
		}
	}
	return file, c.close()
}
