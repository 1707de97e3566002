// Sbom prints the software bill of materials of a built program in CycloneDX
// JSON, from the build information in the binary:
//
//	sbom -version VERSION -time RFC3339 BINARY
//
// It fails if the program has a module whose licence is not in
// internal/licenses.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"anodyne.example/anodyne/internal/licenses"
)

func main() {
	version := flag.String("version", "", "the version of the release")
	at := flag.String("time", "", "when the release was made, in RFC 3339; not the clock's time, so that a build can be repeated")
	flag.Parse()
	if flag.NArg() != 1 || *version == "" || *at == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *version, *at); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(binary, version, at string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	bom, err := describe(info, licenses.Modules(), release{version, at, sha256.Sum256(program)})
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.EncodeVersion(bom, spec)
}
