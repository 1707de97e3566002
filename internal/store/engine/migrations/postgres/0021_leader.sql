-- The node that is elected for background work, and until when, by the clock of
-- the database. The term grows with every change of node.
CREATE TABLE leader (
    one   BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    node  BIGINT NOT NULL,
    term  BIGINT NOT NULL,
    until BIGINT NOT NULL
);
