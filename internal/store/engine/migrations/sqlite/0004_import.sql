-- What an import brought in, so that nothing comes in twice: a patient by the
-- identifier it has elsewhere, any other line by its content. Identifiers,
-- contents and lines are kept as hashes.
CREATE TABLE import_key (
    org_no     INTEGER NOT NULL,
    key_hash   BLOB NOT NULL,
    content    BLOB NOT NULL,
    patient_id BLOB NOT NULL,
    PRIMARY KEY (org_no, key_hash)
) WITHOUT ROWID;

CREATE TABLE import_line (
    org_no    INTEGER NOT NULL,
    line_hash BLOB NOT NULL,
    PRIMARY KEY (org_no, line_hash)
) WITHOUT ROWID;
