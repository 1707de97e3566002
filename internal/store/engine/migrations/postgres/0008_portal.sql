-- Members of an organisation, who sign in to the portal.
CREATE TABLE account (
    account_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_no        BIGINT NOT NULL REFERENCES org,
    id            BYTEA NOT NULL UNIQUE,
    email         TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    role          BIGINT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    signed_in_at  BIGINT,
    disabled_at   BIGINT
);
CREATE INDEX account_org ON account (org_no);

-- A session is known by the hash of its cookie.
CREATE TABLE account_session (
    hash       BYTEA NOT NULL PRIMARY KEY,
    org_no     BIGINT NOT NULL,
    account_no BIGINT NOT NULL REFERENCES account,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_session_account ON account_session (account_no);
CREATE INDEX account_session_expiry ON account_session (expires_at);

-- One-time links by which somebody becomes a member. A first one is good only
-- as long as its organisation has no member.
CREATE TABLE invitation (
    hash       BYTEA NOT NULL PRIMARY KEY,
    org_no     BIGINT NOT NULL,
    role       BIGINT NOT NULL,
    first      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX invitation_org ON invitation (org_no);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- Failed attempts to sign in, by the hash of the address that was tried, so
-- that an address without a member is treated like one with.
CREATE TABLE sign_in_failure (
    email_hash   BYTEA NOT NULL PRIMARY KEY,
    failures     BIGINT NOT NULL,
    failed_at    BIGINT NOT NULL,
    locked_until BIGINT NOT NULL
);
CREATE INDEX sign_in_failure_age ON sign_in_failure (failed_at);

-- Requests of clients by hour and outcome.
CREATE TABLE client_usage (
    org_no    BIGINT NOT NULL,
    client_no BIGINT NOT NULL,
    hour      BIGINT NOT NULL,
    outcome   BIGINT NOT NULL,
    requests  BIGINT NOT NULL,
    PRIMARY KEY (org_no, client_no, hour, outcome)
);
CREATE INDEX client_usage_hour ON client_usage (hour);

ALTER TABLE client ADD COLUMN description TEXT NOT NULL DEFAULT '';
