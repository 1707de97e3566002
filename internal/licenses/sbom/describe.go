package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"anodyne.example/anodyne/internal/licenses"
)

// spec is the CycloneDX version, chosen to be old enough for common tools.
const spec = cdx.SpecVersion1_6

// release holds what a program's build information lacks.
type release struct {
	version, time string
	sum           [32]byte // SHA-256 of the program
}

// describe returns the SBOM. Every module must have known licences.
func describe(info *debug.BuildInfo, listed []licenses.Module, r release) (*cdx.BOM, error) {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	program := cdx.Component{
		BOMRef: purl(info.Main.Path, r.version), Type: cdx.ComponentTypeApplication, Name: "anodyne", Version: r.version,
		PackageURL: purl(info.Main.Path, r.version), Licenses: under("Apache-2.0"),
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", r.sum)}},
		Properties: &[]cdx.Property{
			{Name: "anodyne:goos", Value: setting["GOOS"]},
			{Name: "anodyne:goarch", Value: setting["GOARCH"]},
		},
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cdx.Component{{
		BOMRef: purl("std", goVersion), Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion,
		Description: "Go standard library and runtime", PackageURL: purl("std", goVersion), Licenses: under("BSD-3-Clause"),
	}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if strings.HasPrefix(dep.Path, info.Main.Path+"/") { // the client module: ours
			continue
		}
		i := slices.IndexFunc(listed, func(m licenses.Module) bool { return m.Path == dep.Path && m.Version == dep.Version })
		if i < 0 {
			return nil, fmt.Errorf("the licence of %s %s is not listed; run: go generate ./internal/licenses", dep.Path, dep.Version)
		}
		parts = append(parts, cdx.Component{
			BOMRef: purl(dep.Path, dep.Version), Type: cdx.ComponentTypeLibrary, Name: dep.Path, Version: dep.Version,
			PackageURL: purl(dep.Path, dep.Version), Licenses: under(listed[i].Licenses...),
			Properties: &[]cdx.Property{{Name: "anodyne:go.sum", Value: dep.Sum}},
		})
	}
	var refs []string
	for _, part := range parts {
		refs = append(refs, part.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = serial(r.sum)
	bom.Metadata = &cdx.Metadata{Timestamp: r.time, Component: &program}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom, nil
}

// purl returns the package URL of a module.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// under returns a single licence, or an expression if several apply.
func under(ids ...string) *cdx.Licenses {
	if len(ids) == 1 {
		return &cdx.Licenses{{License: &cdx.License{ID: ids[0]}}}
	}
	return &cdx.Licenses{{Expression: strings.Join(ids, " AND ")}}
}

// serial returns a UUID derived from the program's checksum, so that the same
// program always has the same one.
func serial(sum [32]byte) string {
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80 // version 8: custom
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
