// Package patients keeps patients and their clinical records, and what is
// derived from them in the transaction of each write: counts, series, alerts.
// The rules are in internal/pain; the names that organisations give medicines
// are here, because records are understood by them.
package patients
