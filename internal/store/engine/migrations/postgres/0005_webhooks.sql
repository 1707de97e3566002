-- Endpoints that an organisation's events are delivered to; secrets are sealed.
CREATE TABLE webhook (
    org_no          BIGINT NOT NULL,
    webhook_no      BIGINT NOT NULL,
    id              BYTEA NOT NULL,
    version         BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    url             TEXT NOT NULL,
    events          TEXT NOT NULL,
    description     TEXT NOT NULL,
    enabled         BIGINT NOT NULL,
    disabled_reason TEXT NOT NULL,
    secret          BYTEA NOT NULL,
    old_secret      BYTEA,
    old_secret_ends BIGINT,
    PRIMARY KEY (org_no, webhook_no)
);
CREATE UNIQUE INDEX webhook_id ON webhook (org_no, id);

-- How far an endpoint has come in its organisation's journal, and who works on
-- it. All events up to pos have a delivery or stand in open. The row outlives
-- its endpoint until the deliveries are purged.
CREATE TABLE webhook_cursor (
    org_no        BIGINT NOT NULL,
    webhook_no    BIGINT NOT NULL,
    pos           BIGINT NOT NULL,
    open          BYTEA NOT NULL,
    pending       BIGINT NOT NULL,
    due_at        BIGINT,
    failing_since BIGINT,
    failed_at     BIGINT,
    failure       TEXT NOT NULL,
    recover_since BIGINT,
    recover_pos   BIGINT,
    recover_end   BIGINT,
    node          BIGINT,
    claim         BIGINT NOT NULL,
    PRIMARY KEY (org_no, webhook_no)
);
CREATE INDEX webhook_cursor_due ON webhook_cursor (due_at) WHERE due_at IS NOT NULL;

-- The processes that deliver. A claim is good as long as its node's lease.
CREATE TABLE webhook_node (
    node        BIGINT NOT NULL PRIMARY KEY,
    lease_until BIGINT NOT NULL
);

-- One row for each event that was sent, or is to be sent again, to an endpoint.
-- Status: 0 pending, 1 delivered, 2 failed. Delivered ones are in no index but
-- the primary key, so that a success is one row written.
CREATE TABLE webhook_delivery (
    org_no          BIGINT NOT NULL,
    webhook_no      BIGINT NOT NULL,
    id              BYTEA NOT NULL,
    pos             BIGINT NOT NULL,
    event_id        BYTEA NOT NULL,
    event_type      TEXT NOT NULL,
    status          BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    next_attempt_at BIGINT,
    tries           BIGINT NOT NULL,
    attempts        BYTEA NOT NULL,
    payload         TEXT,
    PRIMARY KEY (org_no, webhook_no, id)
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (org_no, webhook_no, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_delivery_undelivered ON webhook_delivery (org_no, webhook_no, status, id) WHERE status <> 1;

-- What became of an endpoint's attempts in an hour, with a packed histogram of
-- their latencies.
CREATE TABLE webhook_hour (
    org_no     BIGINT NOT NULL,
    webhook_no BIGINT NOT NULL,
    hour       BIGINT NOT NULL,
    succeeded  BIGINT NOT NULL,
    failed     BIGINT NOT NULL,
    latencies  BYTEA NOT NULL,
    PRIMARY KEY (org_no, webhook_no, hour)
);
