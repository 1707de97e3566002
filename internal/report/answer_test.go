package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/reports"
)

// answer is the JSON form of a report, which is that of the analytics or of
// the summary, decoded without any of our types. It tracks which of its
// numbers a test has used, so that none can be forgotten.
type answer struct {
	t    *testing.T
	root any
	used map[string]bool
}

func answerOf(t *testing.T, d contents) *answer {
	t.Helper()
	return answerIn(t, file(t, d, reports.JSON))
}

// answerIn is the answer in a file.
func answerIn(t *testing.T, file []byte) *answer {
	t.Helper()
	a := &answer{t: t, used: map[string]bool{}}
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.UseNumber()
	if err := decoder.Decode(&a.root); err != nil {
		t.Fatal(err)
	}
	return a
}

// at is the value at a path such as "trend.buckets[3].mean"; what is below null
// is null too.
func (a *answer) at(path string) any {
	a.t.Helper()
	v, known := dig(a.root, path)
	if !known {
		a.t.Fatalf("the answer has no %s", path)
	}
	a.used[path] = true
	return v
}

func dig(v any, path string) (_ any, known bool) {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch of := v.(type) {
		case nil:
			return nil, true
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(of) {
				return nil, false
			}
			v = of[n]
		case map[string]any:
			if v, known = of[step]; !known {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return v, true
}

// text, float and count are what is at a path; null is not ok.
func (a *answer) text(path string) string {
	a.t.Helper()
	s, _ := a.at(path).(string)
	return s
}

func (a *answer) float(path string) (f float64, ok bool) {
	a.t.Helper()
	n, ok := a.at(path).(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil {
		a.t.Fatal(err)
	}
	return f, true
}

func (a *answer) count(path string) (int, bool) {
	a.t.Helper()
	f, ok := a.float(path)
	if ok && f != float64(int(f)) {
		a.t.Fatalf("%s is %v", path, f)
	}
	return int(f), ok
}

func (a *answer) truth(path string) bool {
	a.t.Helper()
	b, _ := a.at(path).(bool)
	return b
}

// each is the paths of the entries of a list.
func (a *answer) each(path string) (paths []string) {
	a.t.Helper()
	list, _ := dig(a.root, path)
	entries, ok := list.([]any)
	if !ok {
		a.t.Fatalf("%s is no list", path)
	}
	for i := range entries {
		paths = append(paths, fmt.Sprintf("%s[%d]", path, i))
	}
	return paths
}

// names are the members of an object, in order.
func (a *answer) names(path string) []string {
	a.t.Helper()
	v, _ := dig(a.root, path)
	object, ok := v.(map[string]any)
	if !ok {
		a.t.Fatalf("%s is no object", path)
	}
	return slices.Sorted(maps.Keys(object))
}

// complete checks that every number of the answer was asked for, but for those
// that a test names.
func (a *answer) complete(but ...string) {
	a.t.Helper()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch of := v.(type) {
		case []any:
			for i := range of {
				walk(fmt.Sprintf("%s[%d]", path, i), of[i])
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(of)) {
				walk(strings.TrimPrefix(path+"."+name, "."), of[name])
			}
		case json.Number:
			if !a.used[path] && !slices.Contains(but, path) {
				a.t.Errorf("%s = %s is nowhere", path, of)
			}
		}
	}
	walk("", a.root)
}
