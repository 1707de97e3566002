-- What operators accepted of logs that differ from what nodes remember of
-- their seals, each signed with the audit key. Nodes apply them in order.
CREATE TABLE seal_acceptance (
    accepted_at INTEGER NOT NULL PRIMARY KEY,
    document    BLOB NOT NULL
);
