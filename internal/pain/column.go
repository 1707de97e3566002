package pain

// Column describes a column of a table of exported data. It is generated from
// the declaration of a field, which also makes its JSON schema.
type Column struct {
	Name string
	Type ColumnType
	// Unit is the unit of a number, or "".
	Unit string
	// About is its meaning, or "" if the name is sufficient.
	About   string
	Privacy Privacy
	// Words are the values that are kept by [KeptIfKnown].
	Words []string
}

// ColumnType is the type of the values of a column.
type ColumnType uint8

// The types of columns.
const (
	TextColumn ColumnType = iota
	IntegerColumn
	NumberColumn
	BooleanColumn
	DateColumn   // days since 1970-01-01
	MomentColumn // milliseconds since 1970-01-01
	TextsColumn  // a list of texts
)

var columnTypeNames = [...]string{"text", "integer", "number", "boolean", "date", "timestamp", "list of text"}

// String returns the name of the type in a data dictionary.
func (t ColumnType) String() string { return columnTypeNames[t] }

// Privacy is what happens to a column when data is de-identified.
type Privacy uint8

// What happens to a column. The zero value is no decision: a test fails for a
// column that has it, and the export treats it as Removed.
const (
	undecided Privacy = iota
	// Kept columns do not identify a patient: numbers, and words from a list.
	Kept
	// KeptIfKnown columns keep only values from a list, because callers may
	// send others.
	KeptIfKnown
	// Removed columns are left out: names, contacts, identifiers, free text.
	Removed
	// DaysOnly columns are dates. They become days since the patient's first
	// record; an incomplete date is left out.
	DaysOnly
	// AgeTo89 columns are ages in years. Those over 89 become 90.
	AgeTo89
	// Pseudonymous columns are identifiers of this service, replaced by keyed
	// pseudonyms.
	Pseudonymous
)

// Decided reports whether it was declared what happens to the column.
func (p Privacy) Decided() bool { return p != undecided }

// Cell is a value of a column. Number is used for all types but TextColumn and
// TextsColumn; a boolean is 0 or 1. The zero value is null.
type Cell struct {
	Set    bool
	Number float64
	Text   string
	Texts  []string
}

// TextCell returns a text, or null if it is empty.
func TextCell(s string) Cell { return Cell{Set: s != "", Text: s} }

// NumberCell returns a number.
func NumberCell(f float64) Cell { return Cell{Set: true, Number: f} }

// TextsCell returns a list, or null if it is empty.
func TextsCell(list []string) Cell { return Cell{Set: len(list) > 0, Texts: list} }

// BooleanCell returns a boolean.
func BooleanCell(yes bool) Cell {
	if yes {
		return NumberCell(1)
	}
	return NumberCell(0)
}

// DateCell returns a date, or null for the zero date.
func DateCell(d Date) Cell {
	if d == (Date{}) {
		return Cell{}
	}
	return NumberCell(float64(d.DayNumber()))
}

// Columns returns the columns of a data type's values, with the fields of
// nested objects after the object's name, such as derived_severity.
func Columns(t DataType) []Column { return kinds[t].columns() }

// AppendCells appends the cells of a stored value, in the order of [Columns].
func AppendCells(row []Cell, t DataType, stored Value) ([]Cell, error) {
	return kinds[t].appendCells(row, stored, false)
}

// AppendSafeCells is AppendCells for de-identified data, without numbers whose
// meaning depends on another column and may be an age over 89. The columns still
// have to be treated as each declares.
func AppendSafeCells(row []Cell, t DataType, stored Value) ([]Cell, error) {
	return kinds[t].appendCells(row, stored, true)
}

// column is a column of objects T.
type column[T any] struct {
	Column
	cell func(v *T) Cell
}

// columnOf returns a list of one column.
func columnOf[T any](name string, t ColumnType, p Privacy, cell func(v *T) Cell) []column[T] {
	return []column[T]{{Column{Name: name, Type: t, Privacy: p}, cell}}
}

// described returns the columns of a field with its description.
func (m *member[T]) described() []column[T] {
	list := make([]column[T], len(m.cells))
	for i, c := range m.cells {
		if c.About == "" && m.about != c.Unit {
			c.About = m.about
		}
		list[i] = c
	}
	return list
}

// with sets what happens to those columns of a field for which nothing is
// declared.
func (m member[T]) with(p Privacy, words ...string) member[T] {
	cells := make([]column[T], len(m.cells))
	for i, c := range m.cells {
		if c.Privacy == undecided {
			c.Privacy, c.Words = p, words
		}
		cells[i] = c
	}
	m.cells = cells
	return m
}

// within returns the columns of the fields of a nested object.
func within[T, U any](name string, at func(*T) *U, members []member[U]) (list []column[T]) {
	for i := range members {
		for _, c := range members[i].described() {
			outer := column[T]{c.Column, func(v *T) Cell { return c.cell(at(v)) }}
			outer.Name = name + "_" + c.Name
			list = append(list, outer)
		}
	}
	return list
}

func (k *kind[T]) columns() (list []Column) {
	for i := range k.members {
		for _, c := range k.members[i].described() {
			list = append(list, c.Column)
		}
	}
	return list
}

func (k *kind[T]) appendCells(row []Cell, stored Value, safe bool) ([]Cell, error) {
	v, err := k.decode(stored)
	if err != nil {
		return row, err
	}
	if k.mend != nil {
		k.mend(&v)
	}
	if safe && k.deidentify != nil {
		k.deidentify(&v)
	}
	for i := range k.members {
		for j := range k.members[i].cells {
			row = append(row, k.members[i].cells[j].cell(&v))
		}
	}
	return row, nil
}

// numberCell returns an optional number; null and absent are the same.
func numberCell(n Number) Cell {
	f, ok := n.Get()
	return Cell{Set: ok, Number: f}
}

func flagCell(f Flag) Cell {
	yes, ok := f.Get()
	if !ok {
		return Cell{}
	}
	return BooleanCell(yes)
}
