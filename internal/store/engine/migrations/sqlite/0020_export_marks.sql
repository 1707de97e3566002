-- How far the journal went when the data of an export was read. An export of
-- what is new since then has all that was committed later, also if it was
-- created earlier.
CREATE TABLE export_mark (
    org_no INTEGER NOT NULL,
    as_of  INTEGER NOT NULL,
    pos    INTEGER NOT NULL,
    PRIMARY KEY (org_no, as_of)
) WITHOUT ROWID;
