// Package licenses holds the licences of everything that is linked into the
// program, as its users are owed them. licenses.txt is generated from the module
// cache; a test fails when it no longer matches the program.
package licenses

import (
	_ "embed"
	"strings"
)

//go:generate go run ./gather

//go:embed licenses.txt
var text string

// Text is the licence and notice of Anodyne, the Go standard library and every
// module in the program, in full. Modules that share a text word for word stand
// above it together.
func Text() string { return text }

// Module is a module that is part of the program on one of the systems a release
// is built for.
type Module struct {
	Path, Version string
	// Licenses are SPDX identifiers.
	Licenses []string
}

// Heading is the prefix of the lines of the text that name a module:
// "=== PATH VERSION [LICENSE, ...]".
const Heading = "=== "

// Modules lists the modules in the text, sorted by path within each group that
// shares a text. Anodyne itself and the standard library have no version and are
// not among them.
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
