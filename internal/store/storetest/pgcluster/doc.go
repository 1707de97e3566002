// Package pgcluster provides tests with a real PostgreSQL.
//
// Most tests call Database and get an empty database with the schema, in
// milliseconds, on a server shared by the whole test run: the one that
// ANODYNE_TEST_POSTGRES names (scripts/test sets it), or else a throw-away
// cluster started by the test process. Tests of failures call Start and get
// their own cluster, which they can stop, kill and restart, and which can have
// a synchronous replica that can be promoted.
//
// Package pgserver starts the clusters. They never outlive their test process.
// If PostgreSQL is not installed, package testneed skips the tests.
package pgcluster
