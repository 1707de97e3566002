// Package pgserver starts a throw-away PostgreSQL from the programs that are
// installed on the machine: for tests, by way of storetest/pgcluster, and for
// anodyne-bench.
//
// A server lives in a temporary directory and outlives the process that
// launched it in no case: see the guard in guard.go. The package keeps no
// goroutine, whichever server is up.
package pgserver
