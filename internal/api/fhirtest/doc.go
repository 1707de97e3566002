// Package fhirtest tests the FHIR interface over HTTP, on both engines. All
// tests of an engine share one server; each has organisations of its own.
package fhirtest
