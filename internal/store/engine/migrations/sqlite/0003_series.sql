-- What is comparable of a patient's records of one year, packed. It is kept in
-- the transaction of every write and can be made again from the records.
CREATE TABLE patient_series (
    org_no     INTEGER NOT NULL,
    patient_no INTEGER NOT NULL,
    year       INTEGER NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (org_no, patient_no, year)
) WITHOUT ROWID;
