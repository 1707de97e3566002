// Package journal keeps what every write leaves: an entry in its organisation's
// log, with the audit line and, when others want to know, an event. It gives
// entries their positions, lets others follow the log, takes the audit lines of
// reads through a spool, and seals each log, so that a change to it is found.
//
// The tables that a write is about are in the packages that import this one.
package journal
