package strictjson

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
)

func TestParseRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, c := range []struct {
		name, body, reason string
		offset             int64
	}{
		{"nothing", "", "it is empty", 0},
		{"white space", " \n\t ", "it is empty", 0},
		{"array", " [1]", "it is not an object", 1},
		{"string", `"a"`, "it is not an object", 0},
		{"null", "null", "it is not an object", 0},
		{"closing brace", "}", "it is not an object", 0},
		{"word", "hello", "it is not valid JSON", 0},
		{"byte order mark", "\ufeff{}", "it is not valid JSON", 0},
		{"cut off", `{"a":1`, "it ends too early", 6},
		{"cut off in a string", `{"a":"x`, "it ends too early", 7},
		{"trailing object", `{} {}`, "more data follows the object", 3},
		{"trailing comma", `{},`, "more data follows the object", 2},
		{"trailing text", "{}\nx", "more data follows the object", 3},
		{"comma before brace", `{"a":1,}`, "it is not valid JSON", 6},
		{"missing value", `{"a"}`, "it is not valid JSON", 4},
		{"name is a number", `{1:2}`, "it is not valid JSON", 1},
		{"wrong bracket", `{"a":[}`, "it is not valid JSON", 6},
		{"single quotes", `{'a':1}`, "it is not valid JSON", 1},
		{"comment", `{/**/}`, "it is not valid JSON", 1},
		{"leading zero", `{"a":01}`, "it is not valid JSON", 6},
		{"NaN", `{"a":NaN}`, "it is not valid JSON", 5},
		{"line break in a string", "{\"a\":\"\n\"}", "it is not valid JSON", 6},
		{"duplicate", `{"a":1,"b":2,"a":3}`, "a field occurs twice in one object", 13},
		{"duplicate by an escape", `{"a":1,"\u0061":2}`, "a field occurs twice in one object", 7},
		{"duplicate inside", `{"x":[{"a":1,"a":2}]}`, "a field occurs twice in one object", 13},
		{"invalid UTF-8", "{\"a\":\"x\xffy\"}", "it is not valid UTF-8", 7},
		{"invalid UTF-8 in a name", "{\"\xc0\x80\":1}", "it is not valid UTF-8", 2},
		{"encoded surrogate", "{\"a\":\"\xed\xa0\x80\"}", "it is not valid UTF-8", 6},
		{"lone high surrogate", `{"a":"\ud800"}`, "a string contains an invalid escape", 6},
		{"lone low surrogate", `{"a":"\udc00x"}`, "a string contains an invalid escape", 6},
		{"unknown escape", `{"a":"\x"}`, "a string contains an invalid escape", 6},
		{"too deep", deep(MaxDepth + 1), "it is nested too deeply", 5 * MaxDepth},
		{"too deep in arrays", `{"a":` + strings.Repeat("[", 5000), "it is nested too deeply", 5 + MaxDepth - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.body))
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != fault.InvalidBody {
				t.Fatalf("got %v", err)
			}
			if e.Details["reason"] != c.reason || e.Details["offset"] != c.offset || len(e.Details) != 2 {
				t.Fatalf("got %v, want %q at %d", e.Details, c.reason, c.offset)
			}
		})
	}
	if _, err := Parse([]byte(deep(MaxDepth))); err != nil {
		t.Fatalf("the greatest depth is refused: %v", err)
	}
}

// A duplicate is found in an object of any size, in time that does not grow
// with the square of it.
func TestParseManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		b.WriteString(`,"m`)
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576)))
		b.WriteString(`":0`)
	}
	body := "{" + b.String()[1:]
	if _, err := Parse([]byte(body + "}")); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse([]byte(body + `,"maaaa":1}`)); !fault.Is(err, fault.InvalidBody) {
		t.Fatalf("duplicate: %v", err)
	}
}

func TestArray(t *testing.T) {
	o := mustParse(t, `{"a":[1,[2,3],{"b":[4]},"x",null],"z":[]}`)
	var fields fault.Fields
	r := Read(o, &fields)
	a, ok := r.Array("a")
	var got []string
	for i, v := range a.All() {
		got = append(got, v.Path()+"="+string(v.raw()))
		if i == 3 {
			break
		}
	}
	want := []string{"a[0]=1", "a[1]=[2,3]", `a[2]={"b":[4]}`, `a[3]="x"`}
	if !ok || a.Len() != 5 || !slices.Equal(got, want) {
		t.Fatalf("%v, %d elements: %q", ok, a.Len(), got)
	}
	if z, ok := r.Array("z"); !ok || z.Len() != 0 {
		t.Fatalf("empty array: %v, %d", ok, z.Len())
	}
}

// What a value echoes as is always marshalable, and the text that was sent
// unless that is long.
func TestEcho(t *testing.T) {
	long := strings.Repeat("ä", 150)
	for _, c := range []struct{ sent, echoed string }{
		{`"a\u00e9\n"`, `"aé\n"`}, {`1.50e+1`, `1.50e+1`}, {`true`, `true`}, {`false`, `false`}, {`null`, `null`},
		{`{"a":[1,2]}`, `{"a":[1,2]}`},
		{`"` + long + `"`, `"` + long[:200] + `…"`},
		{`["` + long + `"]`, `"[\"` + long[:198] + `…"`},
		{strings.Repeat("1", 300), `"` + strings.Repeat("1", 200) + `…"`},
	} {
		o := mustParse(t, `{"v":`+c.sent+`}`)
		at, _ := o.find("v")
		got, err := json.Marshal(Value{o.doc, at}.Echo())
		if err != nil || string(got) != c.echoed {
			t.Errorf("%s echoes as %s (%v), want %s", c.sent, got, err, c.echoed)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`}, {"Zoë <b> & 'x' / \u2028", `"Zoë <b> & 'x' / ` + "\u2028" + `"`}, {"\"\\\n\x00\x7f", `"\"\\\n\u0000` + "\x7f" + `"`}, {"a\xff", `"a` + "\ufffd" + `"`},
	} {
		got := AppendString([]byte("x"), c.text)
		if string(got) != "x"+c.want || !json.Valid(got[1:]) || string(AppendString(nil, []byte(c.text))) != c.want {
			t.Errorf("AppendString(%q) = %s, want %s", c.text, got, c.want)
		}
	}
}

func mustParse(t testing.TB, body string) *Object {
	t.Helper()
	o, err := Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{``, `{}`, ` {"a":[1,2,{"b":null}],"c":"\ud83d\ude00"} `, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `[]`, `{}x`, "{\"\xff\":1}", `{"a":1e400}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := Parse(body)
		if err != nil {
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != fault.InvalidBody {
				t.Fatalf("not a fault of the body: %v", err)
			}
			if offset := e.Details["offset"].(int64); offset < 0 || offset > int64(len(body)) {
				t.Fatalf("offset %d in a body of %d", offset, len(body))
			}
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatal("accepted what encoding/json refuses")
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatal(err)
		}
		if len(members) != int(o.node().count) {
			t.Fatalf("%d members, encoding/json has %d", o.node().count, len(members))
		}
		var fields fault.Fields
		r := Read(o, &fields)
		for name, want := range members {
			v, ok := r.member(name)
			if !ok || string(v.raw()) != string(want) {
				t.Fatalf("member %q: %v, %s, want %s", name, ok, v.raw(), want)
			}
			if _, err := json.Marshal(v.Echo()); err != nil {
				t.Fatalf("echo: %v", err)
			}
		}
		if r.Done(); !fields.OK() {
			t.Fatalf("members were left over: %v", fields.Err())
		}
	})
}
