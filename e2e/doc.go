// Package e2e holds the end-to-end tests: they build the binary, start it as
// an operator does, drive it through the public Go client, stop it, kill it,
// take its database away, and hold what it says afterwards against what it had
// acknowledged.
//
// Load is random; its seed is logged, and ANODYNE_SEED repeats it.
// ANODYNE_KILL_ROUNDS sets how often the service is killed under load.
package e2e
