-- The member who registered an application in the portal, and the role that the
-- member had then. Applications of the command line, and those from before, have
-- none. requested are scopes that wait for an administrator.
ALTER TABLE client ADD COLUMN owner_no BIGINT REFERENCES account;
ALTER TABLE client ADD COLUMN owner_role BIGINT;
ALTER TABLE client ADD COLUMN requested BIGINT NOT NULL DEFAULT 0;
ALTER TABLE client ADD COLUMN requested_at BIGINT;

-- The member who made an endpoint, or who registered the application that did.
ALTER TABLE webhook ADD COLUMN owner_no BIGINT REFERENCES account;

-- The administrator who made an invitation, with whose role it ends.
ALTER TABLE invitation ADD COLUMN made_by BIGINT REFERENCES account;

-- One-time links by which a member sets a new password.
CREATE TABLE password_reset (
    hash       BYTEA NOT NULL PRIMARY KEY,
    org_no     BIGINT NOT NULL,
    account_no BIGINT NOT NULL REFERENCES account,
    made_by    BIGINT REFERENCES account,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX password_reset_account ON password_reset (account_no);
CREATE INDEX password_reset_expiry ON password_reset (expires_at);

-- Attempts on passwords, by the hash of the e-mail address and the network they
-- came from. The row without a network counts the networks that were locked.
-- signed_in_at is when the member last signed in from there. The table
-- sign_in_failure, which this one replaces, stays for nodes of the version before.
CREATE TABLE sign_in_throttle (
    email_hash   BYTEA NOT NULL,
    network      TEXT NOT NULL,
    tries        BIGINT NOT NULL,
    tried_at     BIGINT NOT NULL,
    locked_until BIGINT NOT NULL,
    signed_in_at BIGINT,
    PRIMARY KEY (email_hash, network)
);
CREATE INDEX sign_in_throttle_age ON sign_in_throttle (tried_at);
