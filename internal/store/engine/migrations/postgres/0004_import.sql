-- What an import brought in, so that nothing comes in twice: a patient by the
-- identifier it has elsewhere, any other line by its content. Identifiers,
-- contents and lines are kept as hashes.
CREATE TABLE import_key (
    org_no     BIGINT NOT NULL,
    key_hash   BYTEA NOT NULL,
    content    BYTEA NOT NULL,
    patient_id BYTEA NOT NULL,
    PRIMARY KEY (org_no, key_hash)
);

CREATE TABLE import_line (
    org_no    BIGINT NOT NULL,
    line_hash BYTEA NOT NULL,
    PRIMARY KEY (org_no, line_hash)
);
