-- The last number given to a report of an organisation, and how many reports
-- there are of each type and status: lists tell an exact total from it.
CREATE TABLE report_counter (
    org_no  BIGINT PRIMARY KEY REFERENCES org,
    reports BIGINT NOT NULL
);

CREATE TABLE report_count (
    org_no      BIGINT NOT NULL,
    report_type BIGINT NOT NULL,
    status      BIGINT NOT NULL,
    reports     BIGINT NOT NULL,
    PRIMARY KEY (org_no, report_type, status)
);

-- Reports, numbered in the order of creation within their organisation. The
-- last five columns are the queue's: its order, who is at work, until when,
-- which claim counts, and how many there were.
CREATE TABLE report (
    org_no       BIGINT NOT NULL,
    report_no    BIGINT NOT NULL,
    id           BYTEA NOT NULL,
    client_id    BYTEA NOT NULL,
    report_type  BIGINT NOT NULL,
    format       BIGINT NOT NULL,
    title        TEXT NOT NULL,
    parameters   TEXT NOT NULL,
    patient_id   BYTEA,
    status       BIGINT NOT NULL,
    progress     BIGINT NOT NULL,
    as_of        BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    started_at   BIGINT,
    completed_at BIGINT,
    expires_at   BIGINT,
    size         BIGINT,
    sha256       BYTEA,
    error        TEXT NOT NULL,
    queued_at    BIGINT NOT NULL,
    node         TEXT NOT NULL,
    lease_until  BIGINT NOT NULL,
    fence        BIGINT NOT NULL,
    tries        BIGINT NOT NULL,
    PRIMARY KEY (org_no, report_no)
);
CREATE UNIQUE INDEX report_id ON report (org_no, id);
CREATE INDEX report_by_status ON report (org_no, status, report_no);
CREATE INDEX report_by_type ON report (org_no, report_type, report_no);
CREATE INDEX report_queue ON report (queued_at) WHERE status <= 1;
CREATE INDEX report_expiry ON report (expires_at) WHERE status = 2;

-- The file of a report, in chunks; fence is that of the claim which wrote it.
CREATE TABLE report_chunk (
    org_no    BIGINT NOT NULL,
    report_no BIGINT NOT NULL,
    fence     BIGINT NOT NULL,
    n         BIGINT NOT NULL,
    bytes     BYTEA NOT NULL,
    PRIMARY KEY (org_no, report_no, fence, n)
);

-- Chunks that nobody will read any more.
CREATE TABLE report_garbage (
    org_no    BIGINT NOT NULL,
    report_no BIGINT NOT NULL,
    fence     BIGINT NOT NULL,
    PRIMARY KEY (org_no, report_no, fence)
);
