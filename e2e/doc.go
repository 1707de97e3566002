// Package e2e holds the end-to-end tests: they build the binary, start it as
// an operator does, drive it through the public Go client, stop it, kill it,
// take its database away, and hold what it says afterwards against what it had
// acknowledged.
//
// Tests named TestFault... are those that make faults runs for longer; docs/faults.md
// says what they prove. Load is random; its seed is logged, and
// ANODYNE_FAULT_SEED repeats it. ANODYNE_FAULT_ROUNDS sets how often a fault is
// made.
package e2e
