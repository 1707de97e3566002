// Package reports stores the reports and exports of organisations: the queue,
// the claims of the nodes that generate them, and their files. An export is
// stored like a report, with a type number of its own (job.go). The data comes
// from internal/store/patients; internal/report and internal/export generate
// the files.
package reports
