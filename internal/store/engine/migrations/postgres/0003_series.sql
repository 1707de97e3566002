-- What is comparable of a patient's records of one year, packed. It is kept in
-- the transaction of every write and can be made again from the records.
CREATE TABLE patient_series (
    org_no     BIGINT NOT NULL,
    patient_no BIGINT NOT NULL,
    year       BIGINT NOT NULL,
    bytes      BYTEA NOT NULL,
    PRIMARY KEY (org_no, patient_no, year)
);
