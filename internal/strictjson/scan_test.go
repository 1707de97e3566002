package strictjson

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// compare fails if the fast path accepts what the decoder rejects, or builds
// another tree.
func compare(t interface{ Fatalf(string, ...any) }, body []byte) (scanned bool) {
	fast, slow := document{body: body}, document{body: body}
	if !fast.scan() {
		return false
	}
	if err := slow.decode(); err != nil {
		t.Fatalf("the fast path accepts %q: %v", body, err)
	}
	if !slices.Equal(fast.nodes, slow.nodes) {
		t.Fatalf("%q becomes\n%+v\nand not\n%+v", body, fast.nodes, slow.nodes)
	}
	return true
}

func TestScan(t *testing.T) {
	many := strings.Repeat(`,"x"`, 200)
	for body, fast := range map[string]bool{
		`{}`: true, ` { } `: true, `{"a":[]}`: true, `{"a":[ ]}`: true, "{\n\t\"a\" : [ 1 , { \"b\" : null } ]\r\n}": true,
		`{"a":-0,"b":0.10,"c":1e5,"d":-12.5E-7,"e":1E+0}`: true,
		`{"a":"\"\\\/\b\f\n\r\t\u00e9\uFFFF","b":"é…😀"}`:  true,
		`{"a":true,"b":false,"c":null,"aa":1,"":2}`:       true,
		`{"a":[1` + many + `]}`:                           true,
		`{"\u0061":1}`:                                    false, `{"a":"\ud83d\ude00"}`: false, // left to the decoder
		`{"a":1,"b":2,"a":3}`: false, `{"a":{"b":1,"b":2}}`: false, `{"a":1,}`: false, `{,}`: false, `{"a":[1,]}`: false, `{"a":[,1]}`: false,
		`{"a":01}`: false, `{"a":-}`: false, `{"a":1.}`: false, `{"a":1e}`: false, `{"a":.5}`: false, `{"a":+1}`: false, `{"a":tru}`: false,
		`{"a":nulls}`: false, `{"a":1 2}`: false, `{"a" 1}`: false, `{"a":}`: false, `{"a"}`: false, `{"a":[}`: false, `{"a":{]}`: false,
		`{} {}`: false, `{"a":1}x`: false, `{`: false, `{"a`: false, `{"a":"\`: false, `{"a":"\u12`: false, `{"a":[`: false, `{"a":1,`: false,
		"{\"a\":\"\xff\"}": false, "{\"\xff\":1}": false, "{\"a\":\"\x01\"}": false, `{"a":"\x"}`: false, `[]`: false, ``: false, `1`: false,
		`{"a":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + `}`: true,
		`{"a":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`:     false,
	} {
		if got := compare(t, []byte(body)); got != fast {
			t.Errorf("%s: fast %v", body, got)
		}
		for cut := range len(body) { // of every part
			compare(t, []byte(body[:cut]))
			compare(t, []byte(body[:cut]+body[cut+1:]))
			compare(t, []byte(body[:cut]+`"`+body[cut:]))
		}
	}
}

// Random objects, as others write them, are read by the fast path.
func TestScanRandom(t *testing.T) {
	var draw func(t *rapid.T, depth int) any
	draw = func(t *rapid.T, depth int) any {
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind < 2 && depth > 0:
			o := map[string]any{}
			for range rapid.IntRange(0, 4).Draw(t, "fields") {
				o[rapid.StringMatching(`[a-zé_]{0,3}`).Draw(t, "name")] = draw(t, depth-1)
			}
			return o
		case kind < 4 && depth > 0:
			return []any{draw(t, depth-1), draw(t, depth-1)}
		case kind == 4:
			return rapid.Float64().Draw(t, "number")
		case kind == 5:
			return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "word")
		}
		return rapid.String().Draw(t, "text")
	}
	rapid.Check(t, func(t *rapid.T) {
		body, err := json.MarshalIndent(map[string]any{"a": draw(t, 4)}, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		if !compare(t, body) {
			t.Fatalf("left to the decoder: %s", body)
		}
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		body[at] = rapid.Byte().Draw(t, "byte")
		compare(t, body)
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"c":"\u00e9"}`, `{"a":-1.5e3,"a":2}`, `{"a":"\ud800"}`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if compare(t, body) && !utf8.Valid(body) {
			t.Fatal("accepted what is not UTF-8")
		}
	})
}
