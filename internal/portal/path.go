package portal

import (
	"context"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
)

// pathID parses an identifier in the path. A malformed identifier is reported
// as not found.
func pathID[K id.Kind](v *visit, name, resource string) (id.ID[K], error) {
	parsed, err := id.Parse[K](v.r.PathValue(name))
	if err != nil {
		return parsed, fault.Missing(resource, "")
	}
	return parsed, nil
}

// readItem reads the item named in the path.
func readItem[K id.Kind, T any](v *visit, resource string, read func(context.Context, id.ID[K]) (T, error)) (item T, err error) {
	itemID, err := pathID[K](v, "id", resource)
	if err != nil {
		return item, err
	}
	return read(v.r.Context(), itemID)
}
