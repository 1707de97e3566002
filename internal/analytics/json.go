package analytics

import (
	"encoding/json"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// ReadParameters reads and validates the parameters of a use from a JSON
// object. path is the path of the object in the body; errors are added to
// fields under it.
func ReadParameters(r *strictjson.Reader, use Use, path string, today pain.Date, fields *fault.Fields) Params {
	var asked Request
	for of := range ParametersFor(use) {
		if !of.Number {
			text, _ := r.String(of.Name)
			asked.Set(of.Name, text)
		} else if n, given := r.Number(of.Name); given {
			asked.Set(of.Name, strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	var found fault.Fields
	p := asked.Params(today, &found)
	for _, f := range found.All() {
		var echo any
		if v, given := r.Value(f.Parameter); given {
			echo = v.Echo()
		}
		fields.Add(path+"."+f.Parameter, echo, strings.Replace(f.Message, f.Parameter+" ", path+"."+f.Parameter+" ", 1))
	}
	return p
}

// AppendParameters appends the effective parameters of a use as fields of a
// JSON object, which b must already contain the beginning of.
func AppendParameters(b []byte, p *Params, use Use) []byte {
	for of := range ParametersFor(use) {
		value := of.Value(p)
		if value == nil {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // strings and numbers always marshal
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, of.Name), ':')
		b = append(b, text...)
	}
	return b
}

// StoredParameters parses an object that [AppendParameters] wrote.
func StoredParameters(stored []byte, use Use, today pain.Date) (Params, error) {
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(stored, &kept); err != nil {
		return Params{}, err
	}
	var asked Request
	for of := range ParametersFor(use) {
		value, given := kept[of.Name]
		if !given {
			continue
		}
		text := string(value)
		if !of.Number {
			if err := json.Unmarshal(value, &text); err != nil {
				return Params{}, err
			}
		}
		asked.Set(of.Name, text)
	}
	var fields fault.Fields
	p := asked.Params(today, &fields)
	return p, fields.Err()
}
