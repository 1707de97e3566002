-- Members of an organisation, who sign in to the portal.
CREATE TABLE account (
    account_no    INTEGER PRIMARY KEY,
    org_no        INTEGER NOT NULL REFERENCES org,
    id            BLOB NOT NULL UNIQUE,
    email         TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    role          INTEGER NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    signed_in_at  INTEGER,
    disabled_at   INTEGER
);
CREATE INDEX account_org ON account (org_no);

-- A session is known by the hash of its cookie.
CREATE TABLE account_session (
    hash       BLOB NOT NULL PRIMARY KEY,
    org_no     INTEGER NOT NULL,
    account_no INTEGER NOT NULL REFERENCES account,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX account_session_account ON account_session (account_no);
CREATE INDEX account_session_expiry ON account_session (expires_at);

-- One-time links by which somebody becomes a member. A first one is good only
-- as long as its organisation has no member.
CREATE TABLE invitation (
    hash       BLOB NOT NULL PRIMARY KEY,
    org_no     INTEGER NOT NULL,
    role       INTEGER NOT NULL,
    first      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX invitation_org ON invitation (org_no);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- Failed attempts to sign in, by the hash of the address that was tried, so
-- that an address without a member is treated like one with.
CREATE TABLE sign_in_failure (
    email_hash   BLOB NOT NULL PRIMARY KEY,
    failures     INTEGER NOT NULL,
    failed_at    INTEGER NOT NULL,
    locked_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_in_failure_age ON sign_in_failure (failed_at);

-- Requests of clients by hour and outcome.
CREATE TABLE client_usage (
    org_no    INTEGER NOT NULL,
    client_no INTEGER NOT NULL,
    hour      INTEGER NOT NULL,
    outcome   INTEGER NOT NULL,
    requests  INTEGER NOT NULL,
    PRIMARY KEY (org_no, client_no, hour, outcome)
) WITHOUT ROWID;
CREATE INDEX client_usage_hour ON client_usage (hour);

ALTER TABLE client ADD COLUMN description TEXT NOT NULL DEFAULT '';
