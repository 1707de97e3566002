package export

import (
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"anodyne.example/anodyne/internal/pain"
)

const (
	// rowsAtOnce is how many rows are passed to the columns together.
	rowsAtOnce = 256
	// groupRows and groupBytes bound a row group, which is kept in memory until
	// it is complete.
	groupRows  = 16 << 10
	groupBytes = 2 << 20
	// pageBytes is the size of a page before compression, of which every column
	// of every table has one in memory.
	pageBytes = 32 << 10
	// chunkBytes is the unit in which memory for compressed pages is allocated.
	// Most columns of a row group need less than the library's 32 KiB.
	chunkBytes = 4 << 10
)

// parquetWriter writes a table as a Parquet file, column by column.
type parquetWriter struct {
	file    *parquet.GenericWriter[any]
	columns []pain.Column
	values  [][]parquet.Value // of the rows not yet passed on, by column
	shared  []bool            // by column, whether a row group has each of its few texts once
	waiting int               // number of these rows
	rows    int               // in the row group, with bytes as an estimate
	bytes   int
}

func newParquetWriter(w io.Writer, name string, columns []pain.Column) *parquetWriter {
	schema := parquet.NewSchema(name, ordered(columns))
	shared := make([]bool, len(columns))
	for i := range columns {
		shared[i] = repeats(&columns[i]) && columns[i].Name != patientID.Name
	}
	return &parquetWriter{
		file: parquet.NewGenericWriter[any](w, schema, parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
			parquet.PageBufferSize(pageBytes), parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(chunkBytes)), parquet.CreatedBy("anodyne", "", "")),
		columns: columns, values: make([][]parquet.Value, len(columns)), shared: shared,
	}
}

// row is a group of fields in the order of the columns; parquet.Group sorts
// them by name.
type row struct {
	parquet.Group
	order []string
}

// Fields returns the columns in order.
func (r row) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range r.Group.Fields() {
		byName[f.Name()] = f
	}
	list := make([]parquet.Field, len(r.order))
	for i, name := range r.order {
		list[i] = byName[name]
	}
	return list
}

// ordered returns the schema of columns. All are optional.
func ordered(columns []pain.Column) row {
	r := row{parquet.Group{}, make([]string, len(columns))}
	for i := range columns {
		r.order[i] = columns[i].Name
		r.Group[columns[i].Name] = parquet.Optional(node(&columns[i]))
	}
	return r
}

// node returns the Parquet type of a column. Times have no time zone, so that
// every tool shows them in UTC, as the analytics count days.
func node(c *pain.Column) parquet.Node {
	switch c.Type {
	case pain.IntegerColumn:
		return parquet.Int(64)
	case pain.NumberColumn:
		return parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
	case pain.BooleanColumn:
		return parquet.Leaf(parquet.BooleanType)
	case pain.DateColumn:
		return parquet.Date()
	case pain.MomentColumn:
		return parquet.TimestampAdjusted(parquet.Millisecond, false)
	case pain.TextsColumn:
		return parquet.List(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	}
	if repeats(c) {
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	return parquet.String()
}

// repeats reports whether a text column has few distinct values in a row group.
func repeats(c *pain.Column) bool {
	return c.Name == patientID.Name || c.Privacy == pain.Kept || c.Privacy == pain.KeptIfKnown
}

func (w *parquetWriter) write(cells []pain.Cell) error {
	for i := range cells {
		w.add(i, &cells[i])
	}
	w.rows++
	if w.waiting++; w.waiting < rowsAtOnce {
		return nil
	}
	return w.pass()
}

// add adds a cell to the values of a column. The definition level says how much
// of an optional value, or of an optional list and its elements, is there.
func (w *parquetWriter) add(column int, c *pain.Cell) {
	if !c.Set {
		w.values[column] = append(w.values[column], parquet.NullValue().Level(0, 0, column))
		return
	}
	w.bytes += 8
	v := parquet.Value{}
	switch w.columns[column].Type {
	case pain.TextColumn:
		v = w.text(column, c.Text)
	case pain.IntegerColumn, pain.MomentColumn:
		v = parquet.Int64Value(int64(c.Number))
	case pain.DateColumn:
		v = parquet.Int32Value(int32(c.Number))
	case pain.NumberColumn:
		v = parquet.DoubleValue(c.Number)
	case pain.BooleanColumn:
		v = parquet.BooleanValue(c.Number != 0)
	case pain.TextsColumn:
		for i, s := range c.Texts {
			w.values[column] = append(w.values[column], w.text(column, s).Level(min(i, 1), 2, column))
		}
		return
	}
	w.values[column] = append(w.values[column], v.Level(0, 1, column))
}

// text returns a text without copying it: the columns do, in pass.
func (w *parquetWriter) text(column int, s string) parquet.Value {
	if !w.shared[column] {
		w.bytes += len(s)
	}
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// pass passes the waiting rows on to the columns, and ends a full row group.
func (w *parquetWriter) pass() error {
	if w.waiting == 0 {
		return nil
	}
	for i, column := range w.file.ColumnWriters() {
		if _, err := column.WriteRowValues(w.values[i]); err != nil {
			return err
		}
		clear(w.values[i])
		w.values[i] = w.values[i][:0]
	}
	w.waiting = 0
	if w.rows < groupRows && w.bytes < groupBytes {
		return nil
	}
	w.rows, w.bytes = 0, 0
	return w.file.Flush()
}

func (w *parquetWriter) close() error {
	if err := w.pass(); err != nil {
		return err
	}
	return w.file.Close()
}
