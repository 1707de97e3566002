package pain

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/strictjson"
)

const patched = `{"name":"Ada","date_of_birth":"1980-05-06","gender":"f","contact":{"email":"a@b","phone":"1"},"medical_history":["Gout"]}`

func TestPatchPatient(t *testing.T) {
	gout := `[{"condition":"Gout"}]`
	for _, c := range []struct {
		body    string
		changes []Change
	}{
		{`{}`, nil},
		{patched, nil},
		{`{"contact":{}}`, nil},
		{`{"name":"  Ada  ","medical_history":[{"condition":"Gout","notes":null}]}`, nil},
		{`{"name":"Ida"}`, []Change{{"name", "Ada", "Ida"}}},
		{`{"date_of_birth":"1980-06-05"}`, []Change{{"date_of_birth", "1980-05-06", "1980-06-05"}}},
		{`{"gender":null}`, []Change{{"gender", "f", ""}}},
		{`{"gender":""}`, []Change{{"gender", "f", ""}}},
		{`{"contact":{"email":null}}`, []Change{{"contact.email", "a@b", ""}}},
		{`{"contact":{"phone":"2"}}`, []Change{{"contact.phone", "1", "2"}}},
		{`{"contact":null}`, []Change{{"contact.email", "a@b", ""}, {"contact.phone", "1", ""}}},
		{`{"medical_history":null}`, []Change{{"medical_history", gout, "[]"}}},
		{`{"medical_history":[]}`, []Change{{"medical_history", gout, "[]"}}},
		{`{"medical_history":["Flu"]}`, []Change{{"medical_history", gout, `[{"condition":"Flu"}]`}}},
		{`{"gender":"x","name":"I"}`, []Change{{"name", "Ada", "I"}, {"gender", "f", "x"}}},
	} {
		old := create(t, patched)
		updated, changes, err := PatchPatient(old, parse(t, c.body), testNow)
		if err != nil || !slices.Equal(changes, c.changes) {
			t.Errorf("%s: %v, %v", c.body, changes, err)
		}
		switch {
		case len(c.changes) == 0 && updated != old:
			t.Errorf("%s: nothing should change: %+v", c.body, updated)
		case len(c.changes) > 0 && updated.Version != old.Version+1:
			t.Errorf("%s: version %d", c.body, updated.Version)
		}
	}
}

// A patch is equivalent to creating a patient from the merged document, using
// the algorithm of RFC 7396 verbatim.
func TestPatchIsMergePatch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old := create(t, patched)
		if rapid.Bool().Draw(rt, "bare") {
			old = create(t, `{"name":"Ada","date_of_birth":"1980-05-06"}`)
		}
		patch := drawMembers(rt, map[string][]any{
			"name":            {nil, "", "Ida", " Ada ", 3.0},
			"date_of_birth":   {nil, "1980-05-06", "1990-01-01", "3000-01-01", "x"},
			"gender":          {nil, "", "m", "f", false},
			"contact":         {nil, "text", map[string]any{}, drawMembers(rt, map[string][]any{"email": {nil, "", "c@d", "a@b", "x"}, "phone": {nil, "1", "2", 3.0}})},
			"medical_history": {nil, []any{}, []any{"Gout"}, []any{map[string]any{"condition": "Flu", "notes": nil}}, []any{1.0}, map[string]any{}},
		})
		var document map[string]any
		if err := json.Unmarshal(AppendDetail(nil, &old), &document); err != nil {
			rt.Fatal(err)
		}
		delete(document, "id")
		delete(document, "created_at")

		got, changes, err := PatchPatient(old, object(rt, patch), testNow)
		want, wantErr := NewPatient(object(rt, mergePatch(document, patch)), old.ID, testNow)
		if (err == nil) != (wantErr == nil) {
			rt.Fatalf("patch: %v, creation: %v", err, wantErr)
		}
		if err == nil {
			if (len(changes) > 0) != (want != old) || (got.Version != old.Version) != (want != old) {
				rt.Fatalf("changes %v, version %d", changes, got.Version)
			}
			if want.Version = got.Version; got != want {
				rt.Fatalf("got  %+v\nwant %+v", got, want)
			}
		}
	})
}

func drawMembers(rt *rapid.T, choices map[string][]any) map[string]any {
	drawn := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if rapid.Bool().Draw(rt, "has "+name) {
			drawn[name] = rapid.SampledFrom(choices[name]).Draw(rt, name)
		}
	}
	return drawn
}

func mergePatch(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if old, ok := target.(map[string]any); ok {
		maps.Copy(merged, old)
	}
	for name, value := range members {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = mergePatch(merged[name], value)
		}
	}
	return merged
}

func object(rt *rapid.T, value any) *strictjson.Object {
	text, err := json.Marshal(value)
	if err != nil {
		rt.Fatal(err)
	}
	o, err := strictjson.Parse(text)
	if err != nil {
		rt.Fatal(err)
	}
	return o
}
