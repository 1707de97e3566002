-- How far the journal went when the data of an export was read. An export of
-- what is new since then has all that was committed later, also if it was
-- created earlier.
CREATE TABLE export_mark (
    org_no BIGINT NOT NULL,
    as_of  BIGINT NOT NULL,
    pos    BIGINT NOT NULL,
    PRIMARY KEY (org_no, as_of)
);
