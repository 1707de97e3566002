package internal

import (
	"os"
	"regexp"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
)

// The TypeScript client has a method for every operation of the document. Its
// compiler checks their parameters and types (e2e/typescript_test.go).
func TestTypeScriptClientHasEveryOperation(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../sdk/typescript/src/operations.ts")
	if err != nil {
		t.Fatal(err)
	}
	var methods, routes []string
	for _, line := range regexp.MustCompile(`'([A-Z]+ /[^']*)'`).FindAllSubmatch(table, -1) {
		methods = append(methods, string(line[1]))
	}
	for _, route := range openapi.Routes() {
		if !ofFHIR(route.Path) {
			routes = append(routes, route.Method+" "+route.Path)
		}
	}
	same(t, "operations in sdk/typescript/src/operations.ts", methods, routes)
}
