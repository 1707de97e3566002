-- Endpoints that an organisation's events are delivered to; secrets are sealed.
CREATE TABLE webhook (
    org_no          INTEGER NOT NULL,
    webhook_no      INTEGER NOT NULL,
    id              BLOB NOT NULL,
    version         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    url             TEXT NOT NULL,
    events          TEXT NOT NULL,
    description     TEXT NOT NULL,
    enabled         INTEGER NOT NULL,
    disabled_reason TEXT NOT NULL,
    secret          BLOB NOT NULL,
    old_secret      BLOB,
    old_secret_ends INTEGER,
    PRIMARY KEY (org_no, webhook_no)
) WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_id ON webhook (org_no, id);

-- How far an endpoint has come in its organisation's journal, and who works on
-- it. All events up to pos have a delivery or stand in open. The row outlives
-- its endpoint until the deliveries are purged.
CREATE TABLE webhook_cursor (
    org_no        INTEGER NOT NULL,
    webhook_no    INTEGER NOT NULL,
    pos           INTEGER NOT NULL,
    open          BLOB NOT NULL,
    pending       INTEGER NOT NULL,
    due_at        INTEGER,
    failing_since INTEGER,
    failed_at     INTEGER,
    failure       TEXT NOT NULL,
    recover_since INTEGER,
    recover_pos   INTEGER,
    recover_end   INTEGER,
    node          INTEGER,
    claim         INTEGER NOT NULL,
    PRIMARY KEY (org_no, webhook_no)
) WITHOUT ROWID;
CREATE INDEX webhook_cursor_due ON webhook_cursor (due_at) WHERE due_at IS NOT NULL;

-- The processes that deliver. A claim is good as long as its node's lease.
CREATE TABLE webhook_node (
    node        INTEGER NOT NULL PRIMARY KEY,
    lease_until INTEGER NOT NULL
);

-- One row for each event that was sent, or is to be sent again, to an endpoint.
-- Status: 0 pending, 1 delivered, 2 failed. Delivered ones are in no index but
-- the primary key, so that a success is one row written.
CREATE TABLE webhook_delivery (
    org_no          INTEGER NOT NULL,
    webhook_no      INTEGER NOT NULL,
    id              BLOB NOT NULL,
    pos             INTEGER NOT NULL,
    event_id        BLOB NOT NULL,
    event_type      TEXT NOT NULL,
    status          INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    next_attempt_at INTEGER,
    tries           INTEGER NOT NULL,
    attempts        BLOB NOT NULL,
    payload         TEXT,
    PRIMARY KEY (org_no, webhook_no, id)
) WITHOUT ROWID;
CREATE INDEX webhook_delivery_due ON webhook_delivery (org_no, webhook_no, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_delivery_undelivered ON webhook_delivery (org_no, webhook_no, status, id) WHERE status <> 1;

-- What became of an endpoint's attempts in an hour, with a packed histogram of
-- their latencies.
CREATE TABLE webhook_hour (
    org_no     INTEGER NOT NULL,
    webhook_no INTEGER NOT NULL,
    hour       INTEGER NOT NULL,
    succeeded  INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    latencies  BLOB NOT NULL,
    PRIMARY KEY (org_no, webhook_no, hour)
) WITHOUT ROWID;
