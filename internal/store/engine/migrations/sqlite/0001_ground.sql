-- Organisations, clients and their credentials.
CREATE TABLE org (
    org_no     INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
);

CREATE TABLE client (
    client_no  INTEGER PRIMARY KEY,
    org_no     INTEGER NOT NULL REFERENCES org,
    id         BLOB NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    tier       INTEGER NOT NULL,
    scopes     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE INDEX client_org ON client (org_no);

CREATE TABLE client_secret (
    client_no    INTEGER NOT NULL REFERENCES client,
    hash         BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (client_no, hash)
) WITHOUT ROWID;

CREATE TABLE token (
    hash       BLOB NOT NULL PRIMARY KEY,
    org_no     INTEGER NOT NULL,
    client_no  INTEGER NOT NULL,
    scopes     INTEGER NOT NULL,
    issued_at  INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE INDEX token_expiry ON token (expires_at);

-- Changes when a token or client is revoked or changed.
CREATE TABLE access_epoch (
    one   INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL
);

CREATE TABLE rate_window (
    client_no  INTEGER PRIMARY KEY,
    window_end INTEGER NOT NULL,
    used       INTEGER NOT NULL,
    granted    INTEGER NOT NULL
);

CREATE TABLE idempotency (
    org_no     INTEGER NOT NULL,
    client_no  INTEGER NOT NULL,
    key_hash   BLOB NOT NULL,
    body_hash  BLOB NOT NULL,
    status     INTEGER NOT NULL,
    location   TEXT NOT NULL,
    etag       TEXT NOT NULL,
    body       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_no, client_no, key_hash)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Patients, numbered densely within their organisation.
CREATE TABLE org_counter (
    org_no   INTEGER PRIMARY KEY REFERENCES org,
    patients INTEGER NOT NULL
);

CREATE TABLE patient (
    org_no          INTEGER NOT NULL,
    patient_no      INTEGER NOT NULL,
    id              BLOB NOT NULL,
    version         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    name            TEXT NOT NULL,
    date_of_birth   TEXT NOT NULL,
    gender          TEXT NOT NULL,
    email           TEXT NOT NULL,
    phone           TEXT NOT NULL,
    medical_history TEXT NOT NULL,
    PRIMARY KEY (org_no, patient_no)
) WITHOUT ROWID;
CREATE UNIQUE INDEX patient_id ON patient (org_no, id);

-- The journal: one entry a change, at a position in its organisation's log.
CREATE TABLE journal_head (
    org_no INTEGER PRIMARY KEY REFERENCES org,
    pos    INTEGER NOT NULL
);

CREATE TABLE journal (
    org_no     INTEGER NOT NULL,
    pos        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    subject    BLOB,
    event_id   BLOB,
    event_type TEXT,
    event_data TEXT,
    audit      BLOB NOT NULL,
    packed     INTEGER NOT NULL,
    PRIMARY KEY (org_no, pos)
) WITHOUT ROWID;

-- How far the journal is sealed, and the seal.
CREATE TABLE journal_seal (
    org_no    INTEGER NOT NULL PRIMARY KEY,
    pos       INTEGER NOT NULL,
    head      BLOB NOT NULL,
    sealed_at INTEGER NOT NULL
);

-- Which read-audit segments are in the journal already.
CREATE TABLE spool_segment (
    segment    TEXT NOT NULL PRIMARY KEY,
    shipped_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
