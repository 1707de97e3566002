package importer

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/strictjson"
)

// append appends the JSON of a part, or nothing if all its cells are empty:
// the API treats an absent field like one without a value.
func (n *node) append(b []byte, fields []string, dataType string) []byte {
	if n.isValue {
		return n.appendValue(b, fields, dataType)
	}
	if n.system != "" {
		return appendIdentifier(b, n.system, n.text(fields))
	}
	if len(n.parts) == 0 {
		if n.path != "" {
			return appendCell(b, n.text(fields), formIn(dataType, n.path))
		}
		return appendCell(b, n.text(fields), n.form)
	}
	return n.appendParts(b, fields, dataType)
}

// appendIdentifier appends an identifier, unless its cell is empty.
func appendIdentifier(b []byte, system, value string) []byte {
	if value == "" {
		return b
	}
	b = strictjson.AppendString(append(b, `{"system":`...), system)
	return append(strictjson.AppendString(append(b, `,"value":`...), value), '}')
}

// text returns the text of the cells of a part.
func (n *node) text(fields []string) string {
	text := ""
	for _, column := range n.columns {
		text = strings.TrimSpace(text + " " + fields[column])
	}
	return cmp.Or(text, n.otherwise)
}

func (n *node) appendParts(b []byte, fields []string, dataType string) []byte {
	start := len(b)
	first, last := byte('{'), byte('}')
	if n.array {
		first, last = '[', ']'
	}
	b = append(b, first)
	empty := len(b)
	for _, part := range n.parts {
		before := len(b)
		if before > empty {
			b = append(b, ',')
		}
		if !n.array {
			b = append(strictjson.AppendString(b, part.name), ':')
		}
		head := len(b)
		if b = part.append(b, fields, dataType); len(b) == head {
			b = b[:before]
		}
	}
	if len(b) == empty {
		return b[:start]
	}
	return append(b, last)
}

// appendValue appends a record's value. A column "value" is the field of that
// name if the data type has one; otherwise it is the whole value, unless other
// columns hold parts of it.
func (n *node) appendValue(b []byte, fields []string, dataType string) []byte {
	whole := n.text(fields)
	start := len(b)
	b = n.appendParts(b, fields, dataType)
	if whole == "" {
		return b
	}
	f, hasMember := valueMembers()[dataType]["value"]
	if len(b) == start && !hasMember {
		return appendWhole(b, whole)
	}
	if !hasMember { // the rules will report it
		f = asNumber
	}
	if len(b) == start {
		b = append(b, "{}"...)
	}
	b = b[:len(b)-1]
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendCell(append(b, `"value":`...), whole, f), '}')
}

// appendWhole appends a value that is already JSON, or a bare number or text.
func appendWhole(b []byte, text string) []byte {
	if strings.HasPrefix(text, "{") && jsontext.Value(text).IsValid() {
		return append(b, text...)
	}
	return appendCell(b, text, asNumber)
}

// appendCell appends a cell in the form of its field. Anything that does not
// fit is appended as text, and the rules will report what is wrong.
func appendCell(b []byte, text string, f form) []byte {
	switch {
	case text == "":
		return b
	case (f == asNumber || f == asScalar) && isNumber(text):
		return append(b, text...)
	case f == asBool || f == asScalar:
		switch strings.ToLower(text) {
		case "true", "yes":
			return append(b, "true"...)
		case "false", "no":
			return append(b, "false"...)
		}
	case f == asList:
		return appendList(b, text)
	}
	return strictjson.AppendString(b, text)
}

// appendList appends texts separated by "|", or an existing JSON array.
func appendList(b []byte, text string) []byte {
	if strings.HasPrefix(text, "[") && jsontext.Value(text).IsValid() {
		return append(b, text...)
	}
	b = append(b, '[')
	for part := range strings.SplitSeq(text, "|") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, part)
	}
	return append(b, ']')
}

// isNumber reports whether a text is a JSON number.
func isNumber(text string) bool {
	c := text[0]
	return (c == '-' || '0' <= c && c <= '9') && jsontext.Value(text).IsValid()
}
