// Package export writes the data of an organisation as tables for research:
// patients, one table for each type of clinical data, summaries and daily
// opioid doses, as Parquet, NDJSON or CSV, with a data dictionary. The columns
// come from the declarations in internal/pain, so that a new data type gets its
// table by itself.
//
// Data is read in one snapshot and streamed: the memory does not depend on the
// number of patients and records. De-identification happens between the tables
// and the files (deidentify.go), by what each column declares.
//
// The queue of exports and their files are in internal/store/reports, and
// internal/report runs them.
package export
