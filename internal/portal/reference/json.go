package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// member is a field of an object. Fields are kept in document order, because
// authors put the important ones first.
type member struct {
	name  string
	value json.RawMessage
}

// members parses an object.
func members(raw json.RawMessage) (list []member, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("%.40s is no object", raw)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// items parses an array.
func items(raw json.RawMessage) (list []json.RawMessage, err error) {
	err = json.Unmarshal(raw, &list)
	return list, err
}

// printWidth is the maximum line length of an example.
const printWidth = 76

// pretty formats JSON, with values on one line if they fit.
func pretty(raw json.RawMessage) string {
	var b strings.Builder
	layOut(&b, raw, "", 0)
	return b.String()
}

// layOut writes a value that starts after `used` characters of its line.
func layOut(b *strings.Builder, raw json.RawMessage, indent string, used int) {
	line := oneLine(raw)
	object, isObject := members(raw)
	array, isArray := items(raw)
	if used+len(line) <= printWidth || isObject != nil && isArray != nil {
		b.WriteString(line)
		return
	}
	deeper := indent + "  "
	if isObject == nil {
		for i, m := range object {
			name := oneLine(quoted(m.name)) + ": "
			b.WriteString(opening("{", i) + deeper + name)
			layOut(b, m.value, deeper, len(deeper)+len(name)+1)
		}
		b.WriteString("\n" + indent + "}")
		return
	}
	for i, item := range array {
		b.WriteString(opening("[", i) + deeper)
		layOut(b, item, deeper, len(deeper)+1)
	}
	b.WriteString("\n" + indent + "]")
}

// opening returns the text before the i-th part of an object or array.
func opening(bracket string, i int) string {
	if i == 0 {
		return bracket + "\n"
	}
	return ",\n"
}

// oneLine returns JSON on one line, with a space after each comma and colon.
func oneLine(raw json.RawMessage) string {
	if object, err := members(raw); err == nil {
		parts := make([]string, len(object))
		for i, m := range object {
			parts[i] = string(quoted(m.name)) + ": " + oneLine(m.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	var array []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &array) == nil {
		parts := make([]string, len(array))
		for i, item := range array {
			parts[i] = oneLine(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(raw)
}

func quoted(s string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err) // strings can always be marshalled
	}
	return bytes.TrimSpace(b.Bytes())
}

// asForm encodes an object as a form body, in document order.
func asForm(raw json.RawMessage) string {
	object, err := members(raw)
	if err != nil {
		return plain(raw)
	}
	parts := make([]string, len(object))
	for i, m := range object {
		parts[i] = url.QueryEscape(m.name) + "=" + url.QueryEscape(plain(m.value))
	}
	return strings.Join(parts, "&")
}

// plain formats a value for display: strings without quotes.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
