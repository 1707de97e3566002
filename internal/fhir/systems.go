package fhir

// PatientSystem returns the system of the identifiers that this service gives
// to patients.
func (m Mapping) PatientSystem() string { return m.patientSystem() }

// RecordSystem returns the system of the identifiers that this service gives to
// records.
func (m Mapping) RecordSystem() string { return m.recordSystem() }
