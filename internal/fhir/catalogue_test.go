package fhir

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
)

// used calls each for the codings and the extensions of ours in a resource.
func used(v any, coding func(system, code string), extension func(url string)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			used(one, coding, extension)
		}
	case map[string]any:
		if system, ok := v["system"].(string); ok && strings.HasPrefix(system, DefaultBase+systemPath) {
			code, _ := v["code"].(string)
			coding(system, code)
		}
		if url, ok := v["url"].(string); ok && strings.HasPrefix(url, DefaultBase+extensionPath) {
			extension(url)
		}
		for _, one := range v {
			used(one, coding, extension)
		}
	}
}

// Every code and extension of ours that a resource has is in the lists.
func TestCatalogue(t *testing.T) {
	systems, extensions := Mapping{}.CodeSystems(), Mapping{}.Extensions()
	check := func(r Resource) {
		var v any
		if err := json.Unmarshal(r.JSON, &v); err != nil {
			t.Fatal(err)
		}
		used(v, func(system, code string) {
			i := slices.IndexFunc(systems, func(s CodeSystem) bool { return s.URL == system })
			if i < 0 {
				t.Errorf("the code system %s is not listed", system)
			} else if !systems[i].Open && !slices.ContainsFunc(systems[i].Concepts, func(c Concept) bool { return c.Code == code }) {
				t.Errorf("the code %s of %s is not listed", code, system)
			}
		}, func(url string) {
			if !slices.ContainsFunc(extensions, func(e ExtensionInfo) bool { return e.URL == url }) {
				t.Errorf("the extension %s is not listed", url)
			}
		})
	}
	c := syntheticChart(t, 0)
	for _, r := range c.resources(t) {
		check(r)
	}
	for _, info := range pain.DataTypes() {
		drawn := rapid.Custom(func(t *rapid.T) *pain.Record {
			rec, ok := drawRecord(t, info.Type, "")
			if !ok {
				return nil
			}
			return &rec
		})
		for seed := range 30 {
			if rec := drawn.Example(seed); rec != nil {
				list, err := Mapping{}.Record(rec, Version{})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list {
					check(r)
				}
			}
		}
	}
	for i, s := range systems {
		if i > 0 && systems[i-1].URL == s.URL || len(s.Concepts) == 0 || s.Title == "" {
			t.Errorf("the code system %+v", s)
		}
	}
}

func TestHistoryCategories(t *testing.T) {
	for _, category := range historyCategories {
		if _, err := pain.NewPatient(parse(t, `{"name":"A","date_of_birth":"1961-03-14","medical_history":[{"condition":"x","category":"`+category+`"}]}`), testPatient, testNow); err != nil {
			t.Errorf("%s: %v", category, err)
		}
	}
}

// The administrative gender is the group that analytics uses.
func TestFoldGender(t *testing.T) {
	for _, written := range []string{"", " ", "f", "F ", "Female", "m", "MALE", "unknown", "non-binary", "x"} {
		if got, want := foldGender(written), analytics.FoldGender(written).String(); got != want {
			t.Errorf("%q is %s, but %s in analytics", written, got, want)
		}
	}
}
