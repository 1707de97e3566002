// Package licenses embeds the licences of everything linked into the program.
// licenses.txt is generated from the module cache; a test fails if it no
// longer matches the program.
package licenses

import (
	_ "embed"
	"strings"
)

//go:generate go run ./gather

//go:embed licenses.txt
var text string

// Text returns the full licences and notices of Anodyne, the Go standard
// library and every module in the program. Modules with the same text are
// listed together above it.
func Text() string { return text }

// Module is a module that is part of the program on at least one release
// target.
type Module struct {
	Path, Version string
	// Licenses are SPDX identifiers.
	Licenses []string
}

// Heading is the prefix of the lines that name a module: "=== PATH VERSION
// [LICENSE, ...]".
const Heading = "=== "

// Modules lists the modules in the text, sorted by path within each group with
// the same text. It excludes Anodyne itself and the standard library, which
// have no version.
func Modules() (list []Module) {
	for line := range strings.Lines(text) {
		heading, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), Heading)
		if !found {
			continue
		}
		name, ids, _ := strings.Cut(strings.TrimSuffix(heading, "]"), " [")
		if path, version, versioned := strings.Cut(name, " v"); versioned {
			list = append(list, Module{path, "v" + version, strings.Split(ids, ", ")})
		}
	}
	return list
}
