// Package grid writes tables for programs: as CSV and as XLSX. Cells keep their
// type, and text stays text: a name that looks like a formula is no formula in
// either. Both writers stream, and the same tables give the same bytes.
package grid

import (
	"iter"

	"anodyne/internal/pain"
)

// Table is one table of a file.
type Table struct {
	// Name is of the sheet: at most 31 characters, none of []:*?/\.
	Name    string
	Columns []string
	// Rows yields the cells of each row, as many as there are columns. A cell
	// is a string, int, float64, bool or pain.Date, a pointer to one, or nil
	// for what is not known; the zero date is not known either. The slice may
	// be used again for the next row.
	Rows iter.Seq[[]any]
}

// plain is a cell without its pointer.
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
	}
	return cell
}

func at[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
