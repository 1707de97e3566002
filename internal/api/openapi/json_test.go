package openapi

import "testing"

func TestToJSON(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"order is kept", "b: 1\na: 2", `{"b":1,"a":2}`},
		{"scalars", "[1, 2.5, true, null, text, '1', 0x10]", `[1,2.5,true,null,"text","1",16]`},
		{"a date is text", "d: 2026-01-15", `{"d":"2026-01-15"}`},
		{"a number as a key", "200: ok", `{"200":"ok"}`},
		{"nothing is escaped for HTML", "a: <b> & c", `{"a":"<b> & c"}`},
		{"block text", "a: |\n  one\n  two\n", `{"a":"one\ntwo\n"}`},
		{"empty", "{a: {}, b: []}", `{"a":{},"b":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := toJSON([]byte(c.yaml))
			if err != nil || string(got) != c.want {
				t.Errorf("toJSON = %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestToJSONRefuses(t *testing.T) {
	for _, c := range []struct{ name, yaml string }{
		{"no YAML", "a: ["},
		{"nothing", ""},
		{"an alias", "a: &x 1\nb: *x"},
		{"a key twice", "a: 1\na: 2"},
		{"a key that is no text", "{[a]: 1}"},
		{"no number of JSON", "a: .inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := toJSON([]byte(c.yaml)); err == nil {
				t.Errorf("toJSON was accepted as %s", got)
			}
		})
	}
}

func BenchmarkToJSON(b *testing.B) {
	for b.Loop() {
		mustJSON(YAML)
	}
}
