// Package fhirtest helps to test FHIR: it validates resources with a validator
// that is not ours, a program that knows the definitions of R4 and of US Core,
// and draws random records.
package fhirtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// judgeEnv names the validator: a program that takes files of resources, and
// fails if one of them is not valid.
const judgeEnv = "ANODYNE_TEST_FHIR_JUDGE"

// Judge fails the test if a resource or bundle is not valid R4, or not what its
// meta.profile claims. It takes about a second for a thousand resources, so a
// test should call it once. The test is skipped where there is no validator.
func Judge(tb testing.TB, resources ...[]byte) {
	tb.Helper()
	program := judge(tb)
	var lines bytes.Buffer
	for _, r := range resources {
		lines.Write(bytes.ReplaceAll(r, []byte("\n"), []byte(" ")))
		lines.WriteByte('\n')
	}
	file := filepath.Join(tb.TempDir(), "resources.ndjson")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	out, err := exec.Command(program, file).CombinedOutput()
	if err != nil {
		tb.Errorf("%s: %v\n%.4000s", program, err, out)
	}
}

// judge returns the path of the validator. Without the variable, it is looked
// for beside the checkout.
func judge(tb testing.TB) string {
	tb.Helper()
	if program := os.Getenv(judgeEnv); program != "" {
		return program
	}
	if _, err := exec.LookPath("node"); err != nil {
		testneed.Skip(tb, "Node is missing, which the FHIR validator needs")
	}
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		program := filepath.Join(parent, "shared", "fhir", "judge")
		if _, err := os.Stat(program); err == nil {
			return program
		} else if !errors.Is(err, os.ErrNotExist) {
			tb.Fatal(err)
		}
	}
	testneed.Skip(tb, "the FHIR validator is missing; "+judgeEnv+" names it")
	return ""
}
