package fhir

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// fill sets every field of a value, so that none can be forgotten.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth)
		}
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`{"low":1}`))
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes([]byte(" "))
		case depth > 0:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0), depth-1)
			fill(v.Index(1), depth-1)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[json.Number]() {
			v.SetString("1.50")
		} else {
			v.SetString("é<>&\"\\\n\u2028")
		}
	case reflect.Bool:
		v.SetBool(true)
	}
}

// What is appended by hand is what package json writes.
func TestAppendedObservation(t *testing.T) {
	for depth := range 7 {
		var o Observation
		fill(reflect.ValueOf(&o).Elem(), depth)
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(&o); err != nil {
			t.Fatal(err)
		}
		// Package json escapes this character, which JSON does not require.
		text := strings.ReplaceAll(strings.TrimSuffix(want.String(), "\n"), `\u2028`, "\u2028")
		if got := string(o.appendResource(nil)); got != text {
			t.Errorf("depth %d\ngot  %s\nwant %s", depth, got, text)
		}
	}
}

// What is decoded by hand is what package json decodes.
func TestDecodedObservation(t *testing.T) {
	bodies := []string{`{}`, `{"meta":{"profile":[null,"x"],"tag":[]},"code":{"text":"x"},"component":[{},{"valueString":"\u0041"}],"valueString":"é\n","other":{"x":[1]},"_status":{"id":"x"}}`}
	for depth := range 7 {
		var o Observation
		fill(reflect.ValueOf(&o).Elem(), depth)
		bodies = append(bodies, string(o.appendResource(nil)))
	}
	for _, body := range seeds(t) {
		if strings.Contains(body, `"resourceType":"Observation"`) {
			bodies = append(bodies, body)
		}
	}
	for _, body := range bodies {
		var want, got Observation
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatal(err)
		}
		if observationCodec.decode(parse(t, body).Value, &got); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", body, got, want)
		}
	}
}
