package fhir

import (
	"encoding/json"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// appendExtensions appends the extension of a field, or one for each element of
// a list. d is its declaration, or nil. Null is left out.
func appendExtensions(list []Extension, url string, v strictjson.Value, d *declared) []Extension {
	if array, ok := v.AsArray(); ok {
		for _, element := range array.All() {
			list = appendExtensions(list, url, element, d)
		}
		return list
	}
	e := Extension{URL: url}
	switch v.Kind() {
	case strictjson.KindNull:
		return list
	case strictjson.KindNumber:
		e.ValueDecimal = json.Number(v.Raw())
	case strictjson.KindBool:
		yes := v.Raw()[0] == 't'
		e.ValueBoolean = &yes
	case strictjson.KindObject:
		o, _ := v.AsObject()
		for name, inner := range o.All() {
			var in *declared
			if d != nil {
				in = find(d.fields, name)
			}
			e.Extension = appendExtensions(e.Extension, name, inner, in)
		}
		if len(e.Extension) == 0 {
			return list
		}
	default:
		s, _ := v.AsString()
		form := formText
		if d != nil {
			form = d.form
		}
		e.setText(s, form)
	}
	return append(list, e)
}

func (e *Extension) setText(s string, f form) {
	switch {
	case strings.TrimSpace(s) == "":
		e.ValueBase64Binary = []byte(s)
	case f == formCode:
		e.ValueCode = s
	case f == formDate:
		e.ValueDate = s
	default:
		e.ValueString = s
	}
}

// textExtension returns an extension with a text.
func textExtension(url, s string) Extension {
	e := Extension{URL: url}
	e.setText(s, formText)
	return e
}

// text returns the text of the extension, and whether it has one.
func (e *Extension) text() (string, bool) {
	for _, s := range [...]string{e.ValueString, e.ValueCode, e.ValueDate, string(e.ValueBase64Binary)} {
		if s != "" {
			return s, true
		}
	}
	return "", false
}

// appendJSON appends the value of an extension as JSON, and reports whether it
// has one. Extensions within it become an object, whose fields in lists become
// arrays. Computed fields are left out.
func (e *Extension) appendJSON(b []byte, d *declared, path, at string, from func(v1Path, expression string)) ([]byte, bool) {
	from(path, at)
	if s, ok := e.text(); ok {
		return strictjson.AppendString(b, s), true
	}
	switch {
	case e.ValueDecimal != "":
		return append(b, e.ValueDecimal...), true
	case e.ValueInteger != "":
		return append(b, e.ValueInteger...), true
	case e.ValueBoolean != nil:
		return strconv.AppendBool(b, *e.ValueBoolean), true
	case len(e.Extension) > 0:
		return appendFields(b, e.Extension, d, path+".", at+".extension", from), true
	}
	return b, false
}

// appendFields appends an object with the values of extensions whose URLs are
// the names of fields.
func appendFields(b []byte, list []Extension, d *declared, path, at string, from func(v1Path, expression string)) []byte {
	var fields []declared
	if d != nil {
		fields = d.fields
	}
	b = append(b, '{')
	for i := range list {
		name := list[i].URL
		in := find(fields, name)
		if in != nil && in.computed || repeats(list[:i], name) {
			continue
		}
		start := len(b)
		if b[start-1] != '{' {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, name), ':')
		var ok bool
		if b, ok = appendFieldJSON(b, list, i, in, path+name, at, from); !ok {
			b = b[:start]
		}
	}
	return append(b, '}')
}

// appendFieldJSON appends the value of the extension list[i] and, for a list,
// of all with the same URL.
func appendFieldJSON(b []byte, list []Extension, i int, d *declared, path, at string, from func(v1Path, expression string)) ([]byte, bool) {
	if d == nil || !d.list {
		return list[i].appendJSON(b, d, path, at+index(i), from)
	}
	b = append(b, '[')
	for n, j := 0, i; j < len(list); j++ {
		if list[j].URL != list[i].URL {
			continue
		}
		start := len(b)
		if n > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = list[j].appendJSON(b, d, path+index(n), at+index(j), from); !ok {
			b = b[:start]
			continue
		}
		n++
	}
	from(path, at+index(i))
	return append(b, ']'), true
}

func repeats(list []Extension, url string) bool {
	for i := range list {
		if list[i].URL == url {
			return true
		}
	}
	return false
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
