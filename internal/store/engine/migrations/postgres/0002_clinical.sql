-- Clinical records, clustered by patient and clinical time, so that a batch
-- for one patient and a range of one patient touch few pages.
CREATE TABLE clinical_record (
    org_no       BIGINT NOT NULL,
    patient_no   BIGINT NOT NULL,
    recorded_at  BIGINT NOT NULL,
    id           BYTEA NOT NULL,
    data_type    BIGINT NOT NULL,
    status       BIGINT NOT NULL,
    corrects     BYTEA,
    created_at   BIGINT NOT NULL,
    value        TEXT NOT NULL,
    notes        TEXT NOT NULL,
    source       TEXT NOT NULL,
    author       TEXT NOT NULL,
    encounter_id TEXT NOT NULL,
    PRIMARY KEY (org_no, patient_no, recorded_at, id)
);
CREATE UNIQUE INDEX clinical_record_id ON clinical_record (org_no, id);
