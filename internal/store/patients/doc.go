// Package patients stores patients and their clinical records, and the counts,
// series and alerts derived from them in the transaction of each write. The
// rules are in internal/pain. Organisations' own names for medicines are stored
// here too, because the interpretation of records depends on them.
package patients
