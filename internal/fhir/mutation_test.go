package fhir

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// mutate changes one place of a JSON tree.
func mutate(t *rapid.T, v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			break
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		switch rapid.IntRange(0, 9).Draw(t, "object") {
		case 0:
			delete(v, name)
			return v
		case 1:
			v[rapid.SampledFrom([]string{"colour", "_status", "text", "extension", "valueString", "dataAbsentReason", "contained", "language", "_language", "modifierExtension"}).Draw(t, "new")] = drawElement(t)
			return v
		}
		if depth > 0 && name != "resourceType" {
			v[name] = mutate(t, v[name], depth-1)
			return v
		}
	case []any:
		if len(v) == 0 {
			break
		}
		switch i := rapid.IntRange(0, len(v)-1).Draw(t, "index"); rapid.IntRange(0, 5).Draw(t, "array") {
		case 0:
			return append(v, v[i])
		case 1:
			return slices.Delete(v, i, i+1)
		case 2:
			return v[i]
		default:
			if depth > 0 {
				v[i] = mutate(t, v[i], depth-1)
				return v
			}
		}
	}
	return drawElement(t)
}

func drawElement(t *rapid.T) any {
	return rapid.SampledFrom([]any{
		nil, true, json.Number("0"), json.Number("-1.50"), json.Number("1e200"), "", " ", "x", "2024-05-01", "final", "http://loinc.org", "8867-4", "kg", "Patient/1", "#p",
		[]any{}, []any{"x"}, map[string]any{}, map[string]any{"text": "x"}, map[string]any{"value": json.Number("3")}, []any{map[string]any{"text": "x"}},
		[]any{map[string]any{"url": "urn:x", "valueCode": "x"}}, map[string]any{"extension": []any{map[string]any{"url": "urn:x", "valueCode": "x"}}},
		map[string]any{"status": "generated", "div": "<div>x</div>"}, []any{map[string]any{"resourceType": "Medication", "id": "p"}},
	}).Draw(t, "element")
}

// seeds are resources of ours and of others, by which mutations begin.
func seeds(t *testing.T) (list []string) {
	for _, c := range received {
		list = append(list, c.body)
	}
	c := syntheticChart(t, 2)
	count := map[string]int{}
	for _, r := range c.resources(t) {
		if count[r.Type]++; count[r.Type] < 10 {
			list = append(list, string(r.JSON))
		}
	}
	return list
}

// A resource with wrong places is refused with their paths, or it is stored and
// comes back as it was sent.
func TestMutatedResources(t *testing.T) {
	bodies := seeds(t)
	rapid.Check(t, func(t *rapid.T) {
		decoder := json.NewDecoder(strings.NewReader(rapid.SampledFrom(bodies).Draw(t, "seed")))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			v = mutate(t, v, rapid.IntRange(0, 6).Draw(t, "depth"))
		}
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		d, issues := Mapping{}.Read(body)
		if (d == nil) != failed(issues) {
			t.Fatalf("a draft %v with issues %v of %s", d, issues, body)
		}
		for _, issue := range issues {
			if issue.Code == "" || !strings.HasSuffix(issue.Text, ".") || issue.Expression == "" && issue.Code != Structure {
				t.Fatalf("an issue that says too little: %+v of %s", issue, body)
			}
		}
		if d != nil && d.Record != nil {
			comesBack(t, d, body)
		}
	})
}

// comesBack checks that a resource which package pain accepts comes back as it
// was sent.
func comesBack(t *rapid.T, d *Draft, body []byte) {
	o, err := strictjson.Parse(d.Record)
	if err != nil {
		t.Fatalf("%v in %s", err, d.Record)
	}
	var fields fault.Fields
	rec := pain.NewRecord(o, &fields, testIntake())
	if !fields.OK() {
		return
	}
	rec.Status = d.Status
	list, err := Mapping{}.As(d.Type).Record(&rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(r Resource) bool { return r.Type == d.Type })
	if i < 0 {
		t.Fatalf("no %s of %s", d.Type, d.Record)
	}
	back := Restore(list[i].JSON, Keep(body, list[i].JSON))
	system := DefaultBase + "/record"
	want, got := decoded(t, body, system), decoded(t, back, system)
	dropOurs(want)
	dropOurs(got)
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("received %s\nback     %s", body, back)
	}
}

// dropOurs removes our own extensions, which follow from the record.
func dropOurs(r map[string]any) {
	list, ok := r["extension"].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(list, func(one any) bool {
		o, _ := one.(map[string]any)
		url, _ := o["url"].(string)
		return strings.HasPrefix(url, DefaultBase)
	})
	if r["extension"] = list; len(list) == 0 {
		delete(r, "extension")
	}
}
