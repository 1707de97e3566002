-- The last number given to a report of an organisation, and how many reports
-- there are of each type and status: lists tell an exact total from it.
CREATE TABLE report_counter (
    org_no  INTEGER PRIMARY KEY REFERENCES org,
    reports INTEGER NOT NULL
);

CREATE TABLE report_count (
    org_no      INTEGER NOT NULL,
    report_type INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    reports     INTEGER NOT NULL,
    PRIMARY KEY (org_no, report_type, status)
) WITHOUT ROWID;

-- Reports, numbered in the order of creation within their organisation. The
-- last five columns are the queue's: its order, who is at work, until when,
-- which claim counts, and how many there were.
CREATE TABLE report (
    org_no       INTEGER NOT NULL,
    report_no    INTEGER NOT NULL,
    id           BLOB NOT NULL,
    client_id    BLOB NOT NULL,
    report_type  INTEGER NOT NULL,
    format       INTEGER NOT NULL,
    title        TEXT NOT NULL,
    parameters   TEXT NOT NULL,
    patient_id   BLOB,
    status       INTEGER NOT NULL,
    progress     INTEGER NOT NULL,
    as_of        INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    started_at   INTEGER,
    completed_at INTEGER,
    expires_at   INTEGER,
    size         INTEGER,
    sha256       BLOB,
    error        TEXT NOT NULL,
    queued_at    INTEGER NOT NULL,
    node         TEXT NOT NULL,
    lease_until  INTEGER NOT NULL,
    fence        INTEGER NOT NULL,
    tries        INTEGER NOT NULL,
    PRIMARY KEY (org_no, report_no)
) WITHOUT ROWID;
CREATE UNIQUE INDEX report_id ON report (org_no, id);
CREATE INDEX report_by_status ON report (org_no, status, report_no);
CREATE INDEX report_by_type ON report (org_no, report_type, report_no);
CREATE INDEX report_queue ON report (queued_at) WHERE status <= 1;
CREATE INDEX report_expiry ON report (expires_at) WHERE status = 2;

-- The file of a report, in chunks; fence is that of the claim which wrote it.
-- (With a rowid: rows this large would spoil the tree of a table without.)
CREATE TABLE report_chunk (
    org_no    INTEGER NOT NULL,
    report_no INTEGER NOT NULL,
    fence     INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (org_no, report_no, fence, n)
);

-- Chunks that nobody will read any more.
CREATE TABLE report_garbage (
    org_no    INTEGER NOT NULL,
    report_no INTEGER NOT NULL,
    fence     INTEGER NOT NULL,
    PRIMARY KEY (org_no, report_no, fence)
) WITHOUT ROWID;
