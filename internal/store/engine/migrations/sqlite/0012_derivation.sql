-- How far the values that are derived from medications have been derived again:
-- by which version of the rules, and up to which patient of the organisation.
CREATE TABLE derivation (
    org_no     INTEGER NOT NULL PRIMARY KEY,
    rules      INTEGER NOT NULL,
    patient_no INTEGER NOT NULL
) WITHOUT ROWID;
