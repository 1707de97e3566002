// Package pgcluster gives tests a real PostgreSQL.
//
// Most tests call Database and get an empty database with the schema in it, in
// milliseconds, on a server that the whole test run shares: the one that
// ANODYNE_TEST_POSTGRES names (scripts/test sets it), or else a throw-away
// cluster that the test process starts for itself. A test of faults calls
// Start and gets a cluster of its own to stop, kill and restart, and to give a
// synchronous replica that can be promoted.
//
// Clusters are started by package pgserver, and outlive their test process in
// no case. Where PostgreSQL is not installed, tests are left out by way of
// package testneed.
package pgcluster
