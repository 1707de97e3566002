package export

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"anodyne.example/anodyne/internal/pain"
)

// Row groups of all tables are in memory at the same time. A record of every
// type, over and over, is the most that they take.
//
//test:norace
func TestMemoryOfRowGroups(t *testing.T) {
	used := func() uint64 {
		runtime.GC()
		runtime.GC() // pools are emptied in two steps
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	var writers []*parquetWriter
	for _, table := range everyTable() {
		w := newParquetWriter(io.Discard, table.name, table.columns)
		writers = append(writers, w)
		cells := make([]pain.Cell, len(table.columns))
		for n := 0; w.rows < groupRows-rowsAtOnce && w.bytes < groupBytes*7/8; n++ {
			for i, c := range table.columns {
				cells[i] = pain.NumberCell(float64(n))
				switch {
				case c.Type == pain.TextsColumn:
					cells[i] = pain.TextsCell([]string{"G89.4"})
				case c.Type == pain.TextColumn && repeats(&table.columns[i]) && c.Name != patientID.Name:
					cells[i] = pain.TextCell("one of a few")
				case c.Type == pain.TextColumn:
					cells[i] = pain.TextCell("text of row " + strconv.Itoa(n))
				}
			}
			if err := w.write(cells); err != nil {
				t.Fatal(err)
			}
		}
	}
	const most = 55 << 20
	if n := used() - before; n > most {
		t.Errorf("row groups take %d MiB, want at most %d", n>>20, most>>20)
	} else {
		t.Logf("row groups take %d MiB", n>>20)
	}
	runtime.KeepAlive(writers)
}
