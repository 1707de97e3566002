// Package reports keeps the reports of organisations: the queue, the claims of
// the nodes that make them, and their files. What a report shows is read in
// internal/store/patients and put on paper in internal/report.
package reports
