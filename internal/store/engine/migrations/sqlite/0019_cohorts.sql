-- Saved selections of patients: a list, or the filters of the analytics in
-- filters, which is '' for a list. members is the length of the list. kept has
-- the elements of a FHIR Group that have no column.
CREATE TABLE cohort (
    org_no     INTEGER NOT NULL,
    id         BLOB NOT NULL,
    name       TEXT NOT NULL,
    filters    TEXT NOT NULL,
    members    INTEGER NOT NULL,
    kept       TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_no, id)
) WITHOUT ROWID;

CREATE TABLE cohort_member (
    org_no     INTEGER NOT NULL,
    cohort_id  BLOB NOT NULL,
    patient_no INTEGER NOT NULL,
    PRIMARY KEY (org_no, cohort_id, patient_no)
) WITHOUT ROWID;
CREATE INDEX cohort_member_patient ON cohort_member (org_no, patient_no);

-- Patients that are gone since some time.
CREATE INDEX patient_gone_at ON patient_gone (org_no, gone_at);
