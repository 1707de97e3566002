-- Clinical records, clustered by patient and clinical time, so that a batch
-- for one patient and a range of one patient touch few pages.
CREATE TABLE clinical_record (
    org_no       INTEGER NOT NULL,
    patient_no   INTEGER NOT NULL,
    recorded_at  INTEGER NOT NULL,
    id           BLOB NOT NULL,
    data_type    INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    corrects     BLOB,
    created_at   INTEGER NOT NULL,
    value        TEXT NOT NULL,
    notes        TEXT NOT NULL,
    source       TEXT NOT NULL,
    author       TEXT NOT NULL,
    encounter_id TEXT NOT NULL,
    PRIMARY KEY (org_no, patient_no, recorded_at, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX clinical_record_id ON clinical_record (org_no, id);
