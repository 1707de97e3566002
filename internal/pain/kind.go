package pain

import (
	"encoding/json"
	"fmt"
	"sync"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// Value is the value of a record in its JSON form, with what the service
// derived from it: what the database keeps and the API prints. The Read
// functions decode it for those who look inside.
type Value struct{ json string }

// StoredValue takes a value back from the text that JSON gave.
func StoredValue(text string) Value { return Value{text} }

// JSON is the value as a JSON object.
func (v Value) JSON() string { return v.json }

// kind holds all rules of one data type, whose values are read into a T.
type kind[T any] struct {
	members []member[T]
	// short reads a value that is no object; nil when there is no short form.
	short       func(v *T, value strictjson.Value) (taken bool, problem string)
	shortSchema string
	// check looks at several members together and sets those that follow
	// from others. A member with a fault is as good as absent.
	check func(v *T, r *reading)
	// derive works out the computed members; on is the day of the record. It
	// is called only when nothing is wrong.
	derive func(v *T, on Date)
	// limits are the rules over several members in the terms of a schema.
	limits string
	// optional is set when every member is, but not all at once.
	optional bool
}

// rules is a kind of any T.
type rules interface {
	value(value strictjson.Value, fields *fault.Fields, on Date, aliases *Aliases) Value
	appendSchema(b []byte, stored bool) []byte
}

// rooms are where values are printed before they become texts of their own.
var rooms = sync.Pool{New: func() any { return new(make([]byte, 0, 1024)) }}

// value reads what a caller sent, in full.
func (k *kind[T]) value(value strictjson.Value, fields *fault.Fields, on Date, aliases *Aliases) Value {
	var v T
	if o, ok := value.AsObject(); ok {
		r := read(o, fields, false)
		r.aliases = aliases
		if readMembers(k.members, r, &v); k.optional && !anyThere(k.members, r) {
			value.Fault(fields, oneOfThese(k.members))
		}
		if k.check != nil {
			k.check(&v, r)
		}
		r.Done()
	} else if !k.readShort(&v, value, fields) {
		return Value{}
	}
	if !fields.OK() {
		return Value{}
	}
	if k.derive != nil {
		k.derive(&v, on)
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = appendMembers((*room)[:0], k.members, &v)
	return Value{string(*room)}
}

func (k *kind[T]) readShort(v *T, value strictjson.Value, fields *fault.Fields) bool {
	problem := "must be an object."
	if k.short != nil {
		taken, wrong := k.short(v, value)
		if taken && wrong == "" {
			return true
		}
		if wrong != "" {
			problem = wrong
		}
	}
	value.Fault(fields, problem)
	return false
}

// decode reads what was stored.
func (k *kind[T]) decode(stored Value) (v T, _ error) {
	o, err := strictjson.Parse([]byte(stored.json))
	if err != nil {
		return v, fmt.Errorf("stored value: %w", err)
	}
	var fields fault.Fields
	readMembers(k.members, read(o, &fields, true), &v)
	if err := fields.Err(); err != nil {
		return v, fmt.Errorf("stored value: %w", err)
	}
	return v, nil
}

func (k *kind[T]) appendSchema(b []byte, stored bool) []byte {
	short := !stored && k.shortSchema != ""
	if short {
		b = append(b, `{"anyOf":[`+k.shortSchema+`,`...)
	}
	b = append(b, '{')
	b = appendObjectSchema(b, k.members, stored)
	if k.optional {
		b = append(b, `,"minProperties":1`...)
	}
	if !stored && k.limits != "" {
		b = append(b, ',')
		b = append(b, k.limits...)
	}
	b = append(b, '}')
	if short {
		b = append(b, ']', '}')
	}
	return b
}

// Schema is the JSON Schema (2020-12) of a value as a caller sends it. Absent,
// null and "" are the same to the service; the schema describes the first.
func Schema(t DataType) json.RawMessage { return schemaOf(t, false) }

// StoredSchema is the JSON Schema of a value as the service answers it, with
// what is derived.
func StoredSchema(t DataType) json.RawMessage { return schemaOf(t, true) }

func schemaOf(t DataType, stored bool) json.RawMessage {
	if !t.valid() {
		return nil
	}
	return kinds[t].appendSchema(nil, stored)
}
