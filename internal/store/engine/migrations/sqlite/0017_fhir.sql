-- What FHIR needs beside a record. kept has the elements of received resources
-- for which there is no field, as JSON by resource; NULL if there are none.
-- updated_at is the time of the latest change; NULL if nothing has changed since
-- created_at. root is the first record of a chain of corrections, and version
-- the place in it; both are NULL for the first one.
ALTER TABLE patient ADD COLUMN kept TEXT;
ALTER TABLE patient ADD COLUMN updated_at INTEGER;
ALTER TABLE clinical_record ADD COLUMN kept TEXT;
ALTER TABLE clinical_record ADD COLUMN updated_at INTEGER;
ALTER TABLE clinical_record ADD COLUMN root BLOB;
ALTER TABLE clinical_record ADD COLUMN version INTEGER;

WITH RECURSIVE chain (org_no, id, root, version) AS (
    SELECT org_no, id, id, 1 FROM clinical_record WHERE corrects IS NULL AND status = 2
    UNION ALL
    SELECT r.org_no, r.id, c.root, c.version + 1 FROM chain c
        JOIN clinical_record r ON r.org_no = c.org_no AND r.corrects = c.id
)
UPDATE clinical_record SET root = chain.root, version = chain.version FROM chain
    WHERE clinical_record.org_no = chain.org_no AND clinical_record.id = chain.id AND chain.version > 1;

CREATE INDEX clinical_record_root ON clinical_record (org_no, root) WHERE root IS NOT NULL;

-- The identifiers that others gave to resources. They need not be unique: the
-- parts of one result may share a number. resource is the type, and the part of
-- the record that the resource is, as in kept.
CREATE TABLE record_identifier (
    org_no   INTEGER NOT NULL,
    system   TEXT NOT NULL,
    value    TEXT NOT NULL,
    root     BLOB NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (org_no, system, value, root, resource)
) WITHOUT ROWID;
CREATE INDEX record_identifier_value ON record_identifier (org_no, value);
CREATE INDEX record_identifier_root ON record_identifier (org_no, root);
