-- The node that is elected for background work. It is not used: a SQLite file
-- has one node. It is here so that both engines have the same tables.
CREATE TABLE leader (
    one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    node  INTEGER NOT NULL,
    term  INTEGER NOT NULL,
    until INTEGER NOT NULL
);
