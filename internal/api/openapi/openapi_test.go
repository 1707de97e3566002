package openapi_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/pain"
)

func document(t *testing.T) map[string]any {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// at returns the value at a path of fields in a JSON value.
func at(t *testing.T, value any, members ...string) any {
	t.Helper()
	for _, member := range members {
		object, ok := value.(map[string]any)
		if !ok || object[member] == nil {
			t.Fatalf("the document has no %s", strings.Join(members, "."))
		}
		value = object[member]
	}
	return value
}

func TestBothFormsSayTheSame(t *testing.T) {
	var fromYAML any
	if err := yaml.Unmarshal(openapi.YAML, &fromYAML); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(document(t), want) {
		t.Error("the JSON form is not the YAML form")
	}
}

func TestEveryReferenceResolves(t *testing.T) {
	root := document(t)
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if ref, ok := value["$ref"].(string); ok {
				pointer, local := strings.CutPrefix(ref, "#/")
				if !local {
					t.Errorf("%s points out of the document", ref)
					return
				}
				at(t, root, strings.Split(pointer, "/")...)
			}
			for _, member := range value {
				walk(member)
			}
		case []any:
			for _, item := range value {
				walk(item)
			}
		}
	}
	walk(root)
}

func TestEveryOperationIsDescribed(t *testing.T) {
	root := document(t)
	scopes := access.AllScopes.Names()
	seen := make(map[string]string)
	for _, route := range openapi.Routes() {
		operation := at(t, root, "paths", route.Path, strings.ToLower(route.Method))
		name, _ := at(t, operation, "operationId").(string)
		if other, taken := seen[name]; taken || name == "" {
			t.Errorf("%s %s: operationId %q is empty or also that of %s", route.Method, route.Path, name, other)
		}
		seen[name] = route.Method + " " + route.Path
		for _, member := range []string{"summary", "description", "tags", "security", "responses"} {
			at(t, operation, member)
		}
		if !strings.HasPrefix(route.Path, "/v1/") {
			continue
		}
		security, _ := at(t, operation, "security").([]any)
		if len(security) != 1 {
			t.Errorf("%s: %d ways to authenticate, want one", name, len(security))
			continue
		}
		for _, scope := range at(t, security[0], "oauth2").([]any) {
			if !slices.Contains(scopes, scope.(string)) {
				t.Errorf("%s: there is no scope %s", name, scope)
			}
		}
	}
}

func TestScopesAreThoseOfTheService(t *testing.T) {
	declared := at(t, document(t), "components", "securitySchemes", "oauth2", "flows", "clientCredentials", "scopes").(map[string]any)
	if got, want := slices.Sorted(maps.Keys(declared)), slices.Sorted(slices.Values(access.AllScopes.Names())); !slices.Equal(got, want) {
		t.Errorf("scopes %v, want %v", got, want)
	}
}

// TestListsAreThoseOfTheService compares enumerations of the document with the
// packages that own them.
func TestListsAreThoseOfTheService(t *testing.T) {
	schemas := at(t, document(t), "components", "schemas")
	for _, action := range at(t, schemas, "AuditAction", "enum").([]any) {
		if !audit.Action(action.(string)).Known() {
			t.Errorf("there is no audit action %s", action)
		}
	}
	var events []any
	for _, t := range event.Types() {
		events = append(events, string(t))
	}
	if got := at(t, schemas, "Subscription", "enum"); !reflect.DeepEqual(got, append([]any{string(event.All)}, events...)) {
		t.Errorf("subscriptions %v, want %v and all", got, events)
	}
	sent := append(slices.Clone(events), string(event.Test))
	if got := at(t, schemas, "DeliveredType", "enum"); !reflect.DeepEqual(got, sent) {
		t.Errorf("delivered types %v, want %v", got, sent)
	}
	for _, name := range sent {
		at(t, document(t), "webhooks", name.(string), "post", "requestBody")
	}
	var types []any
	for _, info := range pain.DataTypes() {
		types = append(types, info.Name)
	}
	if got := at(t, schemas, "DataType", "enum"); !reflect.DeepEqual(got, types) {
		t.Errorf("data types %v, want %v", got, types)
	}
	if got := at(t, schemas, "Event", "properties", "type", "enum"); !reflect.DeepEqual(got, events) {
		t.Errorf("events %v, want %v", got, events)
	}
}

func TestRoutes(t *testing.T) {
	routes := openapi.Routes()
	for _, want := range []openapi.Route{{Method: "POST", Path: "/v1/patients"}, {Method: "PATCH", Path: "/v1/patients/{id}"}, {Method: "GET", Path: "/openapi.json"}} {
		if !slices.Contains(routes, want) {
			t.Errorf("Routes lacks %s %s", want.Method, want.Path)
		}
	}
	if slices.ContainsFunc(routes, func(r openapi.Route) bool { return r.Method == "PARAMETERS" }) {
		t.Error("Routes takes the parameters of a path for an operation")
	}
}

// The document must list the aligned measures and their exclusions.
func TestMeasures(t *testing.T) {
	words := func(list any) (words []string) {
		for _, word := range list.([]any) {
			words = append(words, word.(string))
		}
		return words
	}
	var ids []string
	for _, m := range analytics.AlignedMeasures() {
		ids = append(ids, m.ID)
	}
	schemas := at(t, document(t), "components", "schemas")
	if got := words(at(t, schemas, "AnalyticsMeasure", "properties", "id", "enum")); !slices.Equal(got, ids) {
		t.Errorf("measures %q, want %q", got, ids)
	}
	if got := words(at(t, schemas, "AnalyticsExclusion", "properties", "reason", "enum")); !slices.Equal(got, analytics.ExclusionReasons()) {
		t.Errorf("exclusions %q, want %q", got, analytics.ExclusionReasons())
	}
}
