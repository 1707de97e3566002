-- The numbers by which others know a patient, such as a medical record number.
-- A pair of system and value belongs to one patient of the organisation.
CREATE TABLE patient_identifier (
    org_no     BIGINT NOT NULL,
    system     TEXT NOT NULL,
    value      TEXT NOT NULL,
    patient_no BIGINT NOT NULL,
    PRIMARY KEY (org_no, system, value)
);
CREATE INDEX patient_identifier_value ON patient_identifier (org_no, value);

-- The same as JSON, in the order in which they were given, so that a patient is
-- read with one statement; '' if there are none.
ALTER TABLE patient ADD COLUMN identifiers TEXT NOT NULL DEFAULT '';
