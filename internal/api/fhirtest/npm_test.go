package fhirtest

import (
	"os"
	"testing"

	"anodyne.example/anodyne/internal/testnode"
)

func init() {
	tests["fhir-kit-client"] = func(t *testing.T, s *server) { testNPMClient(t, s, "kit") }
	tests["fhirclient"] = func(t *testing.T, s *server) { testNPMClient(t, s, "smart") }
}

// testNPMClient has a FHIR client from npm search, page, create, update and
// send a transaction.
func testNPMClient(t *testing.T, s *server, name string) {
	program, err := os.ReadFile("testdata/fhirclients.mjs")
	if err != nil {
		t.Fatal(err)
	}
	project := testnode.New(t)
	project.Write("fhirclients.mjs", string(program))
	c := s.caller(t, "north")
	if got := project.Run("node", "fhirclients.mjs", s.url, c.token, name); got != "ok\n" {
		t.Errorf("printed %q", got)
	}
}
