package importer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// mapping converts the rows of a file to request bodies of the API.
type mapping struct {
	kind     Kind
	renames  []Rename
	dataType string // of rows without one
	columns  int    // of a CSV file

	external, patient int   // columns, or -1
	identifiers       []int // columns, of clinical data
	systems           []string
	dataTypes         *node // of clinical data
	body              *node // shape of the body
}

// node is a part of a body: a cell, or an object or array of parts.
type node struct {
	name      string
	columns   []int  // of a cell; several texts are joined
	otherwise string // if the cells are empty
	form      form
	path      string // of a field of a value; its form depends on the data type
	system    string // of an identifier, which the cell is the value of
	parts     []*node
	array     bool
	isValue   bool // the field "value" of a record
}

// entry is a row as a request body.
type entry struct {
	external, patient string
	// identifiers are those that a clinical row refers to.
	identifiers []pain.Identifier
	body        []byte
	// known is the body in the form used for its hash.
	known []byte
}

// newMapping maps a header. The error lists all unknown columns.
func newMapping(kind Kind, header []string, renames []Rename, used []bool, dataType string) (*mapping, error) {
	m := &mapping{kind: kind, renames: renames, dataType: dataType, columns: len(header), external: -1, patient: -1, body: &node{}}
	if kind == Clinical {
		m.dataTypes = m.body.at("data_type")
		m.dataTypes.otherwise = dataType
	}
	var errs []error
	taken := map[string]string{}
	for i, name := range header {
		member, number, err := m.member(name, used)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if member == nothing {
			continue
		}
		full := fmt.Sprint(member, " ", number)
		if other, twice := taken[full]; twice {
			errs = append(errs, fmt.Errorf("columns %q and %q both map to %s; skip one with --map %q", other, name, member, name+"="))
			continue
		}
		taken[full] = name
		m.add(i, member, number)
	}
	errs = append(errs, m.conflicts(taken)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m.body.sort()
	return m, nil
}

// member returns the field for a column: as renamed by the operator, or else
// by its name.
func (m *mapping) member(column string, used []bool) (member string, entry int, err error) {
	name := column
	if i, renamed := find(m.renames, column); renamed {
		used[i] = true
		if name = m.renames[i].Member; name == nothing {
			return nothing, 0, nil
		}
	} else if isOurs(column) {
		return nothing, 0, nil
	}
	member, entry, ok := resolve(m.kind, name)
	if !ok {
		return "", 0, errors.New(unknownColumn(m.kind, name))
	}
	return member, entry, nil
}

// conflicts finds columns that contradict each other, and missing required
// columns.
func (m *mapping) conflicts(taken map[string]string) (errs []error) {
	has := func(member string) bool { _, ok := taken[member+" 0"]; return ok }
	if m.kind == Clinical {
		if !has(externalID) && !has(patientID) && len(m.identifiers) == 0 {
			errs = append(errs, errors.New("no column identifies the patient: want patient_id, external_id or identifier:SYSTEM"))
		}
		if !has("data_type") && m.dataType == "" {
			errs = append(errs, errors.New("there is no data_type column; add one, or use --data-type"))
		}
		return errs
	}
	if has("name") && (has(givenName) || has(familyName)) {
		errs = append(errs, errors.New("there are columns for the whole name and for its parts; skip one of them with --map"))
	}
	if has("medical_history") && slices.ContainsFunc(m.body.parts, func(n *node) bool { return n.array && n.name == "medical_history" }) {
		errs = append(errs, errors.New("there are columns for medical_history and for its fields; skip one of them with --map"))
	}
	return errs
}

// add adds a column to the shape of the body.
func (m *mapping) add(column int, member string, number int) {
	switch {
	case member == externalID:
		m.external = column
	case member == patientID:
		m.patient = column
	case strings.HasPrefix(member, identifier):
		m.addIdentifier(column, strings.TrimPrefix(member, identifier))
	case member == givenName:
		name := m.body.at("name")
		name.columns = append([]int{column}, name.columns...)
	case member == familyName:
		name := m.body.at("name")
		name.columns = append(name.columns, column)
	case member == "medical_history":
		m.body.parts = append(m.body.parts, &node{name: member, columns: []int{column}, form: asList})
	case isHistory(member):
		history := m.body.at("medical_history")
		history.array = true
		history.at(fmt.Sprintf("%03d", number)).at(strings.TrimPrefix(member, "history_")).columns = []int{column}
	case member == "value":
		value := m.body.at("value")
		value.isValue, value.columns = true, []int{column}
	default:
		at := m.body
		for name := range strings.SplitSeq(member, ".") {
			at = at.at(name)
		}
		at.columns = []int{column}
		if path, inside := strings.CutPrefix(member, "value."); inside {
			m.body.at("value").isValue, at.path = true, path
		}
	}
}

// addIdentifier adds a column with an identifier: of a patient, or in clinical
// data one that refers to a patient.
func (m *mapping) addIdentifier(column int, system string) {
	if m.kind == Clinical {
		m.identifiers, m.systems = append(m.identifiers, column), append(m.systems, system)
		return
	}
	list := m.body.at("identifiers")
	list.array = true
	one := list.at(system)
	one.columns, one.system = []int{column}, system
}

// at returns a part, creating it if needed.
func (n *node) at(name string) *node {
	for _, part := range n.parts {
		if part.name == name {
			return part
		}
	}
	part := &node{name: name}
	n.parts = append(n.parts, part)
	return part
}

// sort makes the body independent of the order of the columns, in the order of
// canonical JSON, because lines are identified by their body.
func (n *node) sort() {
	slices.SortFunc(n.parts, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, part := range n.parts {
		part.sort()
	}
}

// entry returns the body of a CSV row.
func (m *mapping) entry(fields []string) (e entry, problem string) {
	if len(fields) != m.columns {
		return e, "The line has " + strconv.Itoa(len(fields)) + " fields, the header " + strconv.Itoa(m.columns) + "."
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	cell := func(column int) string {
		if column < 0 {
			return ""
		}
		return fields[column]
	}
	e.external, e.patient = cell(m.external), cell(m.patient)
	for i, column := range m.identifiers {
		if fields[column] != "" {
			e.identifiers = append(e.identifiers, pain.Identifier{System: m.systems[i], Value: fields[column]})
		}
	}
	dataType := ""
	if m.dataTypes != nil {
		dataType = m.dataTypes.text(fields)
	}
	e.body = m.body.append(make([]byte, 0, 256), fields, dataType)
	if len(e.body) == 0 {
		e.body = append(e.body, "{}"...)
	}
	e.known = e.body
	return e, ""
}
