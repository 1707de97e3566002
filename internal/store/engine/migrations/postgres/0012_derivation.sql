-- How far the values that are derived from medications have been derived again:
-- by which version of the rules, and up to which patient of the organisation.
CREATE TABLE derivation (
    org_no     BIGINT NOT NULL PRIMARY KEY,
    rules      BIGINT NOT NULL,
    patient_no BIGINT NOT NULL
);
