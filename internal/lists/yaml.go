package lists

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalar returns a text as a YAML scalar on one line, quoted if necessary.
func scalar(text string) string {
	b, err := yaml.Marshal(text)
	if err != nil {
		panic(err) // text always marshals
	}
	if b[0] == '"' {
		return quoted(text)
	}
	return strings.TrimSuffix(string(b), "\n")
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// member returns a field of a mapping. A text of several lines becomes a block.
func member(name, text string) []string {
	if !strings.Contains(text, "\n") {
		return []string{name + ": " + scalar(text)}
	}
	lines := []string{name + ": |"}
	for line := range strings.Lines(text) {
		lines = append(lines, "  "+strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// flow returns a list on one line. Values that are not text are formatted
// unquoted.
func flow(values ...any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			texts[i] = scalar(s)
		} else {
			texts[i] = fmt.Sprint(v)
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// raw is written unchanged.
type raw string

const null raw = "null"

func anys[T any](list []T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

// schema returns a mapping on one line. The fields are already YAML.
func schema(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

// described adds a description, unless it is empty.
func described(members []string, text string) string {
	if text != "" {
		members = append(members, "description: "+quoted(text))
	}
	return schema(members...)
}
