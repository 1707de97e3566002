-- What an organisation calls medicines, each name for an RxNorm code. folded is
-- the name as names are compared.
CREATE TABLE medicine_alias (
    org_no      INTEGER NOT NULL,
    id          BLOB NOT NULL,
    folded      TEXT NOT NULL,
    name        TEXT NOT NULL,
    rxnorm_code TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (org_no, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX medicine_alias_name ON medicine_alias (org_no, folded);

-- The version of the organisation's aliases. A change adds one and takes
-- patient_no back to 0, so that everything is derived again.
ALTER TABLE derivation ADD COLUMN aliases INTEGER NOT NULL DEFAULT 0;
