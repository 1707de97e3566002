package fhir

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Resources with a part removed or replaced are read or refused with a path,
// and what is read is a body of /v1.
func TestBrokenResources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(foreign).Draw(t, "resource")
		var resource any
		if err := json.Unmarshal([]byte(c.resource), &resource); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			resource = damage(t, resource, 0)
		}
		body, err := json.Marshal(resource)
		if err != nil {
			t.Fatal(err)
		}
		d, issues := Mapping{}.Read(body)
		switch {
		case d == nil && len(issues) == 0:
			t.Fatalf("neither read nor refused: %s", body)
		case d != nil && !json.Valid(d.Record):
			t.Fatalf("%s became %s", body, d.Record)
		}
		for _, issue := range issues {
			if issue.Text == "" || issue.Code == "" || strings.Contains(issue.Expression, "..") {
				t.Fatalf("%+v for %s", issue, body)
			}
		}
	})
}

// damage removes or replaces something in a JSON value.
func damage(t *rapid.T, v any, depth int) any {
	if depth > 0 && rapid.IntRange(0, 4).Draw(t, "here") == 0 {
		return rapid.SampledFrom([]any{nil, "", "x", -1.5, 1e30, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"value": "x"}, "2024-13-45", "9999"}).Draw(t, "instead")
	}
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			return v
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		if depth > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
			delete(v, name)
		} else {
			v[name] = damage(t, v[name], depth+1)
		}
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
		if rapid.IntRange(0, 3).Draw(t, "double") == 0 {
			return append(v, v[i])
		}
		v[i] = damage(t, v[i], depth+1)
		return v
	}
	return v
}
