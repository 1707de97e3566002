-- The member who registered an application in the portal, and the role that the
-- member had then. Applications of the command line, and those from before, have
-- none. requested are scopes that wait for an administrator.
ALTER TABLE client ADD COLUMN owner_no INTEGER REFERENCES account;
ALTER TABLE client ADD COLUMN owner_role INTEGER;
ALTER TABLE client ADD COLUMN requested INTEGER NOT NULL DEFAULT 0;
ALTER TABLE client ADD COLUMN requested_at INTEGER;

-- The member who made an endpoint, or who registered the application that did.
ALTER TABLE webhook ADD COLUMN owner_no INTEGER REFERENCES account;

-- The administrator who made an invitation, with whose role it ends.
ALTER TABLE invitation ADD COLUMN made_by INTEGER REFERENCES account;

-- One-time links by which a member sets a new password.
CREATE TABLE password_reset (
    hash       BLOB NOT NULL PRIMARY KEY,
    org_no     INTEGER NOT NULL,
    account_no INTEGER NOT NULL REFERENCES account,
    made_by    INTEGER REFERENCES account,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX password_reset_account ON password_reset (account_no);
CREATE INDEX password_reset_expiry ON password_reset (expires_at);

-- Attempts on passwords, by the hash of the e-mail address and the network they
-- came from. The row without a network counts the networks that were locked.
-- signed_in_at is when the member last signed in from there. The table
-- sign_in_failure, which this one replaces, stays for nodes of the version before.
CREATE TABLE sign_in_throttle (
    email_hash   BLOB NOT NULL,
    network      TEXT NOT NULL,
    tries        INTEGER NOT NULL,
    tried_at     INTEGER NOT NULL,
    locked_until INTEGER NOT NULL,
    signed_in_at INTEGER,
    PRIMARY KEY (email_hash, network)
) WITHOUT ROWID;
CREATE INDEX sign_in_throttle_age ON sign_in_throttle (tried_at);
