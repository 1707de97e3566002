// Package engine runs statements on SQLite or PostgreSQL. It owns what differs
// between the two and what has to do with neither patients nor anything else
// that the tables are about: connections, transactions, SQLite's one writer, the
// dialects, migrations, the files and their locks, dumps of all tables. It is
// the only package that knows which engine it works with.
//
// What it runs is bound to no organisation, so only the packages of the store
// use its transactions; see docs/architecture.md.
package engine
