-- SMART scopes of a token as they were asked for, separated by spaces.
ALTER TABLE token ADD COLUMN smart TEXT NOT NULL DEFAULT '';

-- Public keys with which clients sign assertions. jwk is the key alone, and
-- thumbprint the one of RFC 7638.
CREATE TABLE client_key (
    org_no       BIGINT NOT NULL,
    client_no    BIGINT NOT NULL REFERENCES client,
    kid          TEXT NOT NULL,
    algorithm    TEXT NOT NULL,
    thumbprint   TEXT NOT NULL,
    jwk          TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    PRIMARY KEY (client_no, kid)
);

-- The address at which a client publishes its keys.
CREATE TABLE client_jwks_uri (
    org_no       BIGINT NOT NULL,
    client_no    BIGINT NOT NULL PRIMARY KEY REFERENCES client,
    uri          TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT
);

-- Assertions that were used, by the hash of their jti, until they expire.
CREATE TABLE client_assertion (
    org_no     BIGINT NOT NULL,
    client_no  BIGINT NOT NULL,
    jti_hash   BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (client_no, jti_hash)
);
CREATE INDEX client_assertion_expiry ON client_assertion (expires_at);
