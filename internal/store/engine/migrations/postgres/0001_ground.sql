-- Organisations, clients and their credentials.
CREATE TABLE org (
    org_no     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         BYTEA NOT NULL UNIQUE,
    name       TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE client (
    client_no  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_no     BIGINT NOT NULL REFERENCES org,
    id         BYTEA NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    tier       BIGINT NOT NULL,
    scopes     BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX client_org ON client (org_no);

CREATE TABLE client_secret (
    client_no    BIGINT NOT NULL REFERENCES client,
    hash         BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    PRIMARY KEY (client_no, hash)
);

CREATE TABLE token (
    hash       BYTEA NOT NULL PRIMARY KEY,
    org_no     BIGINT NOT NULL,
    client_no  BIGINT NOT NULL,
    scopes     BIGINT NOT NULL,
    issued_at  BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX token_expiry ON token (expires_at);

-- Changes when a token or client is revoked or changed.
CREATE TABLE access_epoch (
    one   BIGINT NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL
);

CREATE TABLE rate_window (
    client_no  BIGINT PRIMARY KEY,
    window_end BIGINT NOT NULL,
    used       BIGINT NOT NULL,
    granted    BIGINT NOT NULL
);

CREATE TABLE idempotency (
    org_no     BIGINT NOT NULL,
    client_no  BIGINT NOT NULL,
    key_hash   BYTEA NOT NULL,
    body_hash  BYTEA NOT NULL,
    status     BIGINT NOT NULL,
    location   TEXT NOT NULL,
    etag       TEXT NOT NULL,
    body       BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_no, client_no, key_hash)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Patients, numbered densely within their organisation.
CREATE TABLE org_counter (
    org_no   BIGINT PRIMARY KEY REFERENCES org,
    patients BIGINT NOT NULL
);

CREATE TABLE patient (
    org_no          BIGINT NOT NULL,
    patient_no      BIGINT NOT NULL,
    id              BYTEA NOT NULL,
    version         BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    name            TEXT NOT NULL,
    date_of_birth   TEXT NOT NULL,
    gender          TEXT NOT NULL,
    email           TEXT NOT NULL,
    phone           TEXT NOT NULL,
    medical_history TEXT NOT NULL,
    PRIMARY KEY (org_no, patient_no)
);
CREATE UNIQUE INDEX patient_id ON patient (org_no, id);

-- The journal: one entry a change, at a position in its organisation's log.
CREATE TABLE journal_head (
    org_no BIGINT PRIMARY KEY REFERENCES org,
    pos    BIGINT NOT NULL
);

CREATE TABLE journal (
    org_no     BIGINT NOT NULL,
    pos        BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    subject    BYTEA,
    event_id   BYTEA,
    event_type TEXT,
    event_data TEXT,
    audit      BYTEA NOT NULL,
    packed     BIGINT NOT NULL,
    PRIMARY KEY (org_no, pos)
);

-- Committed entries wait here for the sequencer, which gives them a position.
CREATE TABLE journal_pending (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_no     BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    subject    BYTEA,
    event_id   BYTEA,
    event_type TEXT,
    event_data TEXT,
    audit      BYTEA NOT NULL,
    packed     BIGINT NOT NULL
);
CREATE INDEX journal_pending_org ON journal_pending (org_no);

-- How far the journal is sealed, and the seal.
CREATE TABLE journal_seal (
    org_no    BIGINT NOT NULL PRIMARY KEY,
    pos       BIGINT NOT NULL,
    head      BYTEA NOT NULL,
    sealed_at BIGINT NOT NULL
);

-- Which read-audit segments are in the journal already.
CREATE TABLE spool_segment (
    segment    TEXT NOT NULL PRIMARY KEY,
    shipped_at BIGINT NOT NULL
);

CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);
