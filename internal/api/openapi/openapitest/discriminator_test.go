package openapitest

import (
	"strings"
	"testing"
)

func TestDiscriminator(t *testing.T) {
	d, err := compile([]byte(`{"openapi":"3.1.0","paths":{},"components":{
		"responses":{"UnknownPath":{},"MethodNotAllowed":{},"FHIROutcome":{}},
		"schemas":{"Error":{},
			"Cat":{"type":"object","required":["lives"],"properties":{"pet":{"const":"cat"},"lives":{"type":"integer"}},"additionalProperties":false},
			"Dog":{"type":"object","properties":{"pet":{"const":"dog"},"barks":{"type":"boolean"}},"additionalProperties":false},
			"Pet":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],
				"discriminator":{"propertyName":"pet","mapping":{"cat":"#/components/schemas/Cat","dog":"#/components/schemas/Dog"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	pet, err := d.schema("#/components/schemas/Pet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value any
		fault string // "" if it is valid
	}{
		{object{"pet": "cat", "lives": 9}, ""},
		{object{"pet": "dog", "barks": true}, ""},
		{object{"pet": "dog", "lives": 9}, "additional properties 'lives' not allowed"},
		{object{"pet": "cat"}, "missing property 'lives'"},
		{object{"pet": "cow"}, "value must be one of"},
		{object{"lives": 9}, "missing property 'pet'"},
		{"cat", "want object"},
	} {
		switch err := pet.Validate(c.value); {
		case err == nil && c.fault != "", err != nil && c.fault == "":
			t.Errorf("%v: %v", c.value, err)
		case err != nil && !strings.Contains(brief(err), c.fault):
			t.Errorf("%v: %s, want %s", c.value, brief(err), c.fault)
		}
	}
}
