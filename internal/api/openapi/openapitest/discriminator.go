package openapitest

import "slices"

// resolveDiscriminators replaces each oneOf that has a discriminator by a chain
// of conditions on its property. A response is then validated against one
// alternative only, which is faster and gives an error about that alternative.
func resolveDiscriminators(value any) {
	switch value := value.(type) {
	case object:
		for _, member := range value {
			resolveDiscriminators(member)
		}
		discriminator, _ := value["discriminator"].(object)
		alternatives, _ := value["oneOf"].([]any)
		if discriminator == nil || alternatives == nil {
			return
		}
		property := discriminator["propertyName"].(string)
		names := make(map[any]string) // by reference
		var known []any
		for name, reference := range discriminator["mapping"].(object) {
			names[reference], known = name, append(known, name)
		}
		choice := object{"properties": object{property: object{"enum": known}}}
		for _, alternative := range slices.Backward(alternatives) {
			choice = object{
				"if":   object{"properties": object{property: object{"const": names[alternative.(object)["$ref"]]}}},
				"then": alternative,
				"else": choice,
			}
		}
		delete(value, "oneOf")
		value["allOf"] = []any{object{"type": "object", "required": []any{property}}, choice}
	case []any:
		for _, item := range value {
			resolveDiscriminators(item)
		}
	}
}
