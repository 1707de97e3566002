package fhir

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decoded returns a resource without what the server sets.
func decoded(t fataler, resource []byte, serverSystem string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(resource)))
	decoder.UseNumber()
	var r map[string]any
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%v in %s", err, resource)
	}
	delete(r, "id")
	if r["status"] != "corrected" {
		delete(r, "status")
	}
	if meta, ok := r["meta"].(map[string]any); ok {
		delete(meta, "versionId")
		delete(meta, "lastUpdated")
		if len(meta) == 0 {
			delete(r, "meta")
		}
	}
	for _, name := range []string{"subject", "patient"} {
		if subject, ok := r[name].(map[string]any); ok {
			delete(subject, "reference")
		}
	}
	if one, ok := r["identifier"].(map[string]any); ok && one["system"] == serverSystem {
		delete(r, "identifier")
	}
	if list, ok := r["identifier"].([]any); ok {
		list = slices.DeleteFunc(list, func(one any) bool {
			o, ok := one.(map[string]any)
			return ok && o["system"] == serverSystem
		})
		if r["identifier"] = list; len(list) == 0 {
			delete(r, "identifier")
		}
	}
	return r
}

func drawJSON(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return map[string]any{"b": drawJSON(t, depth-1), "a": drawJSON(t, depth-1)}
	case kind == 1 && depth > 0:
		return []any{drawJSON(t, depth-1), drawJSON(t, depth-1)}
	case kind == 2:
		return json.Number(rapid.SampledFrom([]string{"1", "1.0", "1e2", "100", "-0.50"}).Draw(t, "number"))
	case kind == 3:
		return rapid.Bool().Draw(t, "bool")
	}
	return rapid.SampledFrom([]string{"x", "y", "é<\"", "final"}).Draw(t, "text")
}

// drawResource returns an Observation with random elements of random values.
func drawResource(t *rapid.T, generated bool) []byte {
	r := map[string]any{"resourceType": "Observation"}
	for _, name := range []string{"status", "code", "valueString", "valueQuantity", "_valueString", "note", "text", "language", "_language", "device", "_status"} {
		if rapid.Bool().Draw(t, name) && !(generated && name == "text") {
			r[name] = drawJSON(t, 2)
		}
	}
	if _, both := r["valueQuantity"]; both {
		delete(r, "valueString")
		delete(r, "_valueString")
	}
	if generated {
		r["id"], r["meta"] = "1", map[string]any{"versionId": "3", "lastUpdated": "x", "profile": []any{"p"}}
		r["identifier"] = []any{map[string]any{"system": "ours", "value": "1"}, map[string]any{"system": "mrn", "value": "1"}}
		r["subject"] = map[string]any{"reference": "Patient/1"}
	} else {
		r["meta"] = map[string]any{"tag": drawJSON(t, 1), "versionId": "7"}
		r["identifier"] = []any{map[string]any{"system": "mrn", "value": drawJSON(t, 0)}, map[string]any{"system": "ours", "value": "2"}}
		r["subject"] = map[string]any{"reference": "urn:uuid:7", "display": "P"}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestKeepAndRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		received, generated := drawResource(t, false), drawResource(t, true)
		kept := Keep(received, generated)
		restored := Restore(generated, kept)
		want, got := decoded(t, received, "ours"), decoded(t, restored, "ours")
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("received  %s\ngenerated %s\nkept      %s\nrestored  %s", received, generated, kept, restored)
		}
		var server struct {
			ID      string
			Meta    struct{ VersionID string }
			Subject struct{ Reference string }
			Status  any
		}
		if err := json.Unmarshal(restored, &server); err != nil || server.ID != "1" || server.Meta.VersionID != "3" || server.Subject.Reference != "Patient/1" {
			t.Fatalf("the server's elements: %+v, %v in %s", server, err, restored)
		}
		if same := Keep(restored, generated); string(canonical(same)) != string(canonical(kept)) {
			t.Fatalf("kept %s, and of what was restored %s", kept, same)
		}
	})
}

// A change of a generated element wins over what was kept for it; the rest
// stays.
func TestRestoreAfterAChange(t *testing.T) {
	const generated = `{"resourceType":"Patient","id":"1","name":[{"text":"Ann Lee"}],"birthDate":"1961-03-14","gender":"female"}`
	const received = `{"resourceType":"Patient","name":[{"family":"Lee","given":["Ann"]}],"birthDate":"1961-03-14","_birthDate":{"id":"b"},"gender":"female","address":[{"city":"X"}],` +
		`"text":{"status":"generated","div":"<div>Ann Lee</div>"},"deceasedBoolean":true}`
	kept := Keep([]byte(received), []byte(generated))
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", "", "", []string{"_birthDate", "address", "birthDate", "deceasedBoolean", "gender", "id", "name", "resourceType", "text"}},
		{"the name", `"Ann Lee"`, `"Ann Poe"`, []string{"_birthDate", "address", "birthDate", "deceasedBoolean", "gender", "id", "name", "resourceType"}},
		{"the date of birth", "1961", "1962", []string{"address", "birthDate", "deceasedBoolean", "gender", "id", "name", "resourceType"}},
		{"another of a choice", `"gender"`, `"deceasedDateTime":"2020","gender"`, []string{"_birthDate", "address", "birthDate", "deceasedDateTime", "gender", "id", "name", "resourceType"}},
	} {
		var got map[string]any
		if err := json.Unmarshal(Restore([]byte(strings.Replace(generated, c.old, c.new, 1)), kept), &got); err != nil {
			t.Fatal(err)
		}
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, c.want) {
			t.Errorf("after a change of %s: %v", c.name, names)
		}
		if c.name == "the name" && !reflect.DeepEqual(got["name"], []any{map[string]any{"text": "Ann Poe"}}) {
			t.Errorf("the name is %v", got["name"])
		}
	}
	for _, nonsense := range []string{"", "x", "[]", `{"name":7}`, `{"name":{}}`, `{"name":{"was":1,"now":2}}`} {
		if got := Restore([]byte(generated), []byte(nonsense)); string(got) != generated {
			t.Errorf("%s restores %s", nonsense, got)
		}
	}
	if kept := Keep([]byte(generated), []byte(generated)); kept != nil {
		t.Errorf("kept %s of equal resources", kept)
	}
}

// The server sets the status; extensions of the received one stay while it does.
func TestRestoreExtensionsOfAStatus(t *testing.T) {
	const generated = `{"resourceType":"Observation","id":"1","status":"final"}`
	kept := Keep([]byte(`{"resourceType":"Observation","status":"final","_status":{"id":"s"}}`), []byte(generated))
	for now, want := range map[string]string{
		generated: `{"resourceType":"Observation","id":"1","status":"final","_status":{"id":"s"}}`,
		`{"resourceType":"Observation","id":"1","status":"entered-in-error"}`: `{"resourceType":"Observation","id":"1","status":"entered-in-error"}`,
	} {
		if got := string(Restore([]byte(now), kept)); got != want {
			t.Errorf("%s with %s is %s", now, kept, got)
		}
	}
}

// A score that the service computed is shown as computed, whatever a client
// sent; the same score may be written differently.
func TestKeepComputedScore(t *testing.T) {
	rec := newRecord(t, `{"data_type":"assessments","recorded_at":"2024-03-04","value":{"instrument":"phq_2","items":{"1":1,"2":3}}}`)
	list, err := Mapping{}.Record(&rec, Version{Number: 1})
	if err != nil || len(list) != 2 {
		t.Fatal(err, list)
	}
	generated := list[1].JSON
	for _, c := range []struct {
		sent string
		kept bool
	}{
		{`"valueQuantity":{"value":6,"unit":"{score}"},"interpretation":[{"text":"high"}]`, false},
		{`"valueString":"six"`, false},
		{`"dataAbsentReason":{"text":"not asked"}`, false},
		{`"valueQuantity":{"value":4.0,"unit":"{score}"},"interpretation":[{"text":"high"}]`, true},
		{`"valueInteger":4`, true},
	} {
		received := strings.Replace(string((&elementText{json: generated}).without("valueQuantity", "interpretation")), `"status"`, c.sent+`,"device":{"display":"tablet"},"status"`, 1)
		got := string(Restore(generated, Keep([]byte(received), generated)))
		if strings.Contains(got, c.sent) != c.kept || strings.Contains(got, `"value":4,`) == c.kept || !strings.Contains(got, `"device"`) {
			t.Errorf("sent %s, got %s", c.sent, got)
		}
	}
}

// An interpretation is one of the value that it came with.
func TestRestoreInterpretation(t *testing.T) {
	const generated = `{"resourceType":"Observation","id":"1","code":{"text":"potassium"},"valueQuantity":{"value":7.9}}`
	received := strings.Replace(generated, `"code"`, `"interpretation":[{"text":"HH"}],"code"`, 1)
	kept := Keep([]byte(received), []byte(generated))
	for now, want := range map[string]bool{generated: true, strings.Replace(generated, "7.9", "4.1", 1): false, strings.Replace(generated, "potassium", "K", 1): true} {
		if got := string(Restore([]byte(now), kept)); strings.Contains(got, "HH") != want {
			t.Errorf("%s becomes %s", now, got)
		}
	}
}
