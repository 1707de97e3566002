// Package journal stores the log of each organisation. Every write appends an
// entry with its audit line and, if it is of interest to others, an event. The
// package assigns positions to entries, lets readers follow the log, collects
// the audit lines of reads in a spool, and seals each log so that tampering is
// detected.
//
// The tables that writes change belong to the packages that import this one.
package journal
