// Package reports stores the reports of organisations: the queue, the claims of
// the nodes that generate them, and their files. The data of reports comes from
// internal/store/patients; internal/report generates the documents.
package reports
