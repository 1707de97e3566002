package lists

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalar writes a text as a value of YAML, on one line, quoted if it must be.
func scalar(text string) string {
	b, err := yaml.Marshal(text)
	if err != nil {
		panic(err) // it is a text
	}
	if b[0] == '"' {
		return quoted(text)
	}
	return strings.TrimSuffix(string(b), "\n")
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// member writes a member of a mapping; a text of several lines becomes a block.
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

// flow writes a list on one line. Those that are no text are written as they are.
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

// raw is written as it stands.
type raw string

const null raw = "null"

func anys[T any](list []T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

// schema writes members that are YAML already as a mapping on one line.
func schema(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

// described adds a description, which may be none.
func described(members []string, text string) string {
	if text != "" {
		members = append(members, "description: "+quoted(text))
	}
	return schema(members...)
}
