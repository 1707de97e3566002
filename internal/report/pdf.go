package report

import "io"

// WritePDF writes the summary of a patient.
func (d *PatientSummary) WritePDF(w io.Writer) error { return nil }

// WritePDF writes the lists of an opioid stewardship programme.
func (d *Stewardship) WritePDF(w io.Writer) error { return nil }
