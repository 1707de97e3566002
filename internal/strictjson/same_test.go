package strictjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Same is what package json has as equal, with numbers as text.
func TestSame(t *testing.T) {
	text := func(t *rapid.T) string {
		return rapid.SampledFrom([]string{`"x"`, `"\u0078"`, `"\/"`, `"/"`, `"y"`, `1`, `1.0`, `true`, `null`, `[]`, `{}`}).Draw(t, "text")
	}
	var draw func(t *rapid.T, depth int) string
	draw = func(t *rapid.T, depth int) string {
		switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			fields := rapid.SampledFrom([][]string{{`"a"`, `"b"`}, {`"b"`, `"a"`}, {`"\u0061"`, `"b"`}, {`"a"`, `"c"`}, {`"a"`}, {`"\\u0061"`}, {`"b"`, `"\\u0061"`}}).Draw(t, "names")
			parts := make([]string, len(fields))
			for i, name := range fields {
				parts[i] = name + ": " + draw(t, depth-1)
			}
			return "{" + strings.Join(parts, " ,") + "}"
		case kind == 1 && depth > 0:
			return "[" + draw(t, depth-1) + " , " + draw(t, depth-1) + "]"
		}
		return text(t)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, 3), draw(t, 3)
		if rapid.Bool().Draw(t, "equal") {
			b = strings.NewReplacer(`"x"`, `"\u0078"`, " ", "", `"a"`, `"\u0061"`).Replace(a)
		}
		want := reflect.DeepEqual(decoded(t, a), decoded(t, b))
		if got := Same(parsed(t, a), parsed(t, b)); got != want {
			t.Fatalf("%s and %s: %v", a, b, got)
		}
	})
}

// The name of a field can be what another is escaped as.
func TestSameEscapes(t *testing.T) {
	a, b := parsed(t, `{"\\u0061": 1}`), parsed(t, `{"\u0061": 1}`)
	if Same(a, b) || Same(b, a) {
		t.Error(`\u0061 is the same as a`)
	}
}

func decoded(t *rapid.T, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func parsed(t interface{ Fatal(...any) }, text string) Value {
	o, err := Parse([]byte(`{"v":` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	v, _ := o.Get("v")
	return v
}

// Many fields in another order are compared in reasonable time.
func TestSameManyFields(t *testing.T) {
	var fields []string
	for i := range 50_000 {
		fields = append(fields, fmt.Sprintf(`"f%d":%d`, i, i))
	}
	a := parsed(t, "{"+strings.Join(fields, ",")+"}")
	slices.Reverse(fields)
	b := parsed(t, "{"+strings.Join(fields, ",")+"}")
	if fields[7] = `"other":1`; !Same(a, b) || Same(a, parsed(t, "{"+strings.Join(fields, ",")+"}")) {
		t.Fatal("compared wrongly")
	}
}

func TestStrings(t *testing.T) {
	var got []string
	body := `{"a":"x","b":[1,"y",{"c":["z"],"d":null},["w"]],"\u0065":{"f":"v"}}`
	o := mustParse(t, body)
	for name, v := range o.Strings() {
		got = append(got, string(name)+"="+body[v.Offset():v.Offset()+len(v.Raw())])
	}
	if want := []string{`a="x"`, `b="y"`, `c="z"`, `b="w"`, `f="v"`}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
	if b, _ := o.Get("b"); true {
		for name := range b.Strings() {
			if string(name) != "b" {
				t.Fatalf("the first string of b is in %s", name)
			}
			break
		}
	}
	for name := range o.Strings() {
		if string(name) == "b" {
			break // and is not called again
		}
	}
	got = nil
	for name := range o.Names() {
		got = append(got, string(name))
	}
	if want := []string{"a", "b", "e"}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
}
