package pain

import (
	"encoding/json"
	"fmt"
	"sync"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// Value is the value of a record in JSON, including the derived values, as
// stored in the database and returned by the API. The Read functions decode
// it.
type Value struct{ json string }

// StoredValue returns a value from the text returned by JSON.
func StoredValue(text string) Value { return Value{text} }

// JSON returns the value as a JSON object.
func (v Value) JSON() string { return v.json }

// kind holds all rules of one data type. Its values are read into a T.
type kind[T any] struct {
	members []member[T]
	// short reads a value that is not an object. It is nil if there is no short
	// form.
	short       func(v *T, value strictjson.Value) (taken bool, problem string)
	shortSchema string
	// check checks several fields together and sets those that follow from
	// others. Invalid fields are treated as absent.
	check func(v *T, r *reading)
	// derive computes the derived fields of a valid value. deriveOn does so if they
	// depend on the day of the record.
	derive   func(v *T)
	deriveOn func(v *T, on Date)
	// limits are the rules across fields, in JSON Schema. They use
	// dependentSchemas of a required field, or if and then, which client
	// generators ignore; allOf and anyOf would change the generated types.
	limits string
	// mend corrects a stored value that an earlier version derived. It may be
	// nil.
	mend func(v *T)
	// deidentify removes what depends on several fields and must not be in
	// de-identified data. It may be nil.
	deidentify func(v *T)
	// optional is set if all fields are optional but at least one must be
	// present.
	optional bool
}

// rules is a kind of any T.
type rules interface {
	value(value strictjson.Value, fields *fault.Fields, on Date, aliases *Aliases, known KnownValues) (_ Value, made any)
	appendSchema(b []byte, stored bool) []byte
	columns() []Column
	appendCells(row []Cell, stored Value, safe bool) ([]Cell, error)
}

// rooms is a pool of buffers in which values are encoded before they become
// strings.
var rooms = sync.Pool{New: func() any { return new(make([]byte, 0, 1024)) }}

// KnownValues are valid values of a batch or a file so far, by their rules and the
// text that was sent. Many are equal, such as scores, and are read only once. The
// aliases must be the same for all.
type KnownValues map[sentValue]knownValue

// Values that are longer than longestKnown are hardly ever equal, and if there are
// mostKnown, there are few equal ones.
const longestKnown, mostKnown = 1 << 10, 5000

// add keeps a value, and forgets the others if they have become too many.
func (known KnownValues) add(sent sentValue, v knownValue) {
	if len(sent.text) > longestKnown {
		return
	}
	if len(known) == mostKnown {
		clear(known)
	}
	known[sent] = v
}

type sentValue struct {
	kind rules
	text string
}

type knownValue struct {
	Value     // if it does not depend on the day
	read  any // what was read, without what is derived
}

// value reads and checks a value sent by a caller. It returns it in both forms,
// or nothing if there are errors.
func (k *kind[T]) value(value strictjson.Value, fields *fault.Fields, on Date, aliases *Aliases, known KnownValues) (_ Value, made any) {
	old, again := known[sentValue{k, string(value.Raw())}]
	if again && k.deriveOn == nil {
		return old.Value, old.read
	}
	v := new(T)
	if again {
		*v = *old.read.(*T)
	} else if k.readAll(v, value, fields, aliases); !fields.OK() {
		return Value{}, nil
	}
	now := knownValue{read: v}
	if k.deriveOn != nil && known != nil && !again {
		read := *v
		now.read = &read
	}
	switch {
	case k.deriveOn != nil:
		k.deriveOn(v, on)
	case k.derive != nil:
		k.derive(v)
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = appendMembers((*room)[:0], k.members, v)
	now.Value = Value{string(*room)}
	if known != nil && !again {
		known.add(sentValue{k, string(value.Raw())}, now)
	}
	return now.Value, v
}

// readAll reads and checks everything but what is derived.
func (k *kind[T]) readAll(v *T, value strictjson.Value, fields *fault.Fields, aliases *Aliases) {
	o, ok := value.AsObject()
	if !ok {
		k.readShort(v, value, fields)
		return
	}
	r := read(o, fields, false)
	r.aliases = aliases
	if readMembers(k.members, r, v); k.optional && !anyThere(k.members, r) {
		value.Fault(fields, oneOfThese(k.members))
	}
	if k.check != nil {
		k.check(v, r)
	}
	r.Done()
}

func (k *kind[T]) readShort(v *T, value strictjson.Value, fields *fault.Fields) {
	problem := "must be an object."
	if k.short != nil {
		taken, wrong := k.short(v, value)
		if taken && wrong == "" {
			return
		}
		if wrong != "" {
			problem = wrong
		}
	}
	value.Fault(fields, problem)
}

// decode reads a stored value.
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

// Schema returns the JSON Schema (2020-12) of a value sent by a caller. The
// service treats null and "" like an absent field; the schema does not describe
// them.
func Schema(t DataType) json.RawMessage { return schemaOf(t, false) }

// StoredSchema returns the JSON Schema of a value returned by the service,
// including derived fields.
func StoredSchema(t DataType) json.RawMessage { return schemaOf(t, true) }

func schemaOf(t DataType, stored bool) json.RawMessage {
	if !t.valid() {
		return nil
	}
	return kinds[t].appendSchema(nil, stored)
}
