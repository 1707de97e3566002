// Package grid writes tables for programs, as CSV and XLSX. Cells keep their
// type, and text is never interpreted as a formula. Both writers stream, and
// the same tables give the same bytes.
package grid

import (
	"iter"
	"time"

	"anodyne.example/anodyne/internal/pain"
)

// Table is one table of a file.
type Table struct {
	// Name is the name of the sheet: at most 31 characters, none of []:*?/\.
	Name    string
	Columns []string
	// Rows yields the cells of each row, one per column. A cell is a string,
	// int, float64, bool, pain.Date or time.Time, a pointer to one of the first
	// four, or nil if unknown. The zero date and the zero time mean unknown
	// too. The slice may be reused for the next row.
	Rows iter.Seq[[]any]
}

// plain returns a cell without its pointer.
func plain(cell any) any {
	switch v := cell.(type) {
	case *string:
		return at(v)
	case *int:
		return at(v)
	case *float64:
		return at(v)
	case *bool:
		return at(v)
	case pain.Date:
		if v == (pain.Date{}) {
			return nil
		}
	case time.Time:
		if v.IsZero() {
			return nil
		}
	}
	return cell
}

func at[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
