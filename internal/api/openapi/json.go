package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// mustJSON converts the embedded document. Tests guarantee that the document
// is valid, so it panics on failure.
func mustJSON(document []byte) []byte {
	converted, err := toJSON(document)
	if err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
	return converted
}

// toJSON converts YAML to JSON and preserves the order of the fields, so that
// both forms of the document read alike.
func toJSON(document []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 {
		return nil, fmt.Errorf("%d documents, want one", len(root.Content))
	}
	var out bytes.Buffer
	if err := writeNode(&out, root.Content[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeNode(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		return writeMapping(out, node)
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeNode(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeScalar(out, node)
	default: // JSON has no aliases, and not every OpenAPI reader supports them
		return fmt.Errorf("line %d: not a mapping, a sequence or a scalar", node.Line)
	}
}

func writeMapping(out *bytes.Buffer, node *yaml.Node) error {
	seen := make(map[string]bool, len(node.Content)/2)
	out.WriteByte('{')
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return fmt.Errorf("line %d: key %q is no text or is there twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, key.Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeNode(out, value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeScalar(out *bytes.Buffer, node *yaml.Node) error {
	// JSON has no timestamps; they become strings.
	if tag := node.ShortTag(); tag == "!!str" || tag == "!!timestamp" {
		return writeValue(out, node.Value)
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return writeValue(out, value)
}

func writeValue(out *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the newline that Encode adds
	return nil
}
