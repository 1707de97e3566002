// Package engine runs statements on SQLite or PostgreSQL. It owns everything
// that differs between the two and does not depend on the meaning of the
// tables: connections, transactions, the single writer of SQLite, dialects,
// migrations, files and their locks, and dumps of all tables. It is the only
// package that knows which engine is in use.
//
// Its statements are not restricted to an organisation, so only the packages of
// the store may use its transactions; see docs/architecture.md.
package engine
