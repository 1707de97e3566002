// Package pgserver starts a throw-away PostgreSQL from the programs installed
// on the machine, for tests by way of storetest/pgcluster, and for
// anodyne-bench.
//
// A server lives in a temporary directory and never outlives the process that
// launched it; see guard.go. The package does not keep any goroutines.
package pgserver
