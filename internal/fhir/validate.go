package fhir

import "anodyne.example/anodyne/internal/strictjson"

// validate checks a resource against the definition of its type.
func validate(root *strictjson.Object, resourceType string) []Issue {
	return nil
}
