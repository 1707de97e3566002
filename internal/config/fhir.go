package config

import (
	"flag"
	"fmt"
	"net/url"
	"strings"

	"anodyne.example/anodyne/internal/fhir"
)

// FHIR registers the flags of commands that read or write FHIR resources.
func (c *Config) FHIR(fs *flag.FlagSet) {
	fs.StringVar(&c.FHIRBase, "fhir-base", fhir.DefaultBase, "start of the `URL`s of the service's own FHIR code systems, extensions and identifier systems; the same for all servers and imports")
}

// Mapping returns the mapping between patients and records and FHIR resources.
// Every command gets its mapping here, so that all use the same URLs.
func (c *Config) Mapping() (fhir.Mapping, error) {
	if problem := c.fhirBaseProblem(); problem != "" {
		return fhir.Mapping{}, fmt.Errorf("--fhir-base: %s", problem)
	}
	return fhir.Mapping{Base: c.FHIRBase}, nil
}

// fhirBaseProblem returns what is wrong with --fhir-base, or "".
func (c *Config) fhirBaseProblem() string {
	if c.FHIRBase == "" {
		return "" // the default of the mapping
	}
	u, err := url.Parse(c.FHIRBase)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(c.FHIRBase, "?# \"\\|") || strings.HasSuffix(c.FHIRBase, "/") {
		return fmt.Sprintf("want a URL such as %s, without a user, query, fragment or slash at the end, not %q", fhir.DefaultBase, HidePassword(c.FHIRBase))
	}
	return ""
}
