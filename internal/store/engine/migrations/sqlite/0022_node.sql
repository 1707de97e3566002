-- What the nodes that are running have announced. It is not used: a SQLite file
-- has one node. It is here so that both engines have the same tables.
CREATE TABLE node (
    node INTEGER NOT NULL PRIMARY KEY,
    said TEXT NOT NULL
);
