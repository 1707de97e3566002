-- Patients that were merged or erased. Their numbers are not given again. kind
-- is 1 for merged and 2 for erased. merged_into is the patient that has the data
-- now, also if that one was merged later.
CREATE TABLE patient_gone (
    org_no      BIGINT NOT NULL,
    patient_no  BIGINT NOT NULL,
    id          BYTEA NOT NULL,
    kind        BIGINT NOT NULL,
    merged_into BYTEA,
    gone_at     BIGINT NOT NULL,
    PRIMARY KEY (org_no, patient_no)
);
CREATE UNIQUE INDEX patient_gone_id ON patient_gone (org_no, id);
CREATE INDEX patient_gone_into ON patient_gone (org_no, merged_into) WHERE merged_into IS NOT NULL;

-- How many of the numbers given are no longer in use, in all and by block of
-- 1,024 numbers, so that deep pages need not read the patients before them.
ALTER TABLE org_counter ADD COLUMN gone BIGINT NOT NULL DEFAULT 0;
CREATE TABLE patient_hole (
    org_no BIGINT NOT NULL,
    block  BIGINT NOT NULL,
    holes  BIGINT NOT NULL,
    PRIMARY KEY (org_no, block)
);

-- What others call a patient follows it when it is merged or erased.
CREATE INDEX import_key_patient ON import_key (org_no, patient_id);
CREATE INDEX patient_identifier_patient ON patient_identifier (org_no, patient_no);
