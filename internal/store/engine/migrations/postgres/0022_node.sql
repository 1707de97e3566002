-- What the nodes that are running have announced, such as the address at which
-- others can reach them. A node holds a lock while its row counts.
CREATE TABLE node (
    node BIGINT NOT NULL PRIMARY KEY,
    said TEXT NOT NULL
);
