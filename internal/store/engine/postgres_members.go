package engine

import "context"

// runningNodes selects the nodes that are running, with what they announced.
const runningNodes = `SELECT l.node, n.said FROM (` + lockedNodes + `) AS l (node) LEFT JOIN node n ON n.node = l.node ORDER BY l.node`

// announce stores what this node announces. Its lock is held, so the row counts.
func (c *elector) announce(ctx context.Context) error {
	c.mu.Lock()
	text := c.announced
	c.mu.Unlock()
	if text == "" {
		return nil
	}
	_, err := c.e.tx(ctx, c.conn).Exec(`INSERT INTO node (node, said) VALUES ($1, $2)`, c.node, text)
	return err
}

// withdraw removes what this node announced.
func (c *elector) withdraw(ctx context.Context) {
	c.called(0)
	if c.announced != "" && !c.conn.IsClosed() {
		_, _ = c.e.tx(ctx, c.conn).Exec(`DELETE FROM node WHERE node = $1`, c.node) // otherwise the elected node does
	}
}

// readMembers reads the members after the elected node has noticed a change.
func (c *elector) readMembers(ctx context.Context) error {
	var members []Member
	err := c.e.tx(ctx, c.conn).Query(runningNodes, func(r Row) error {
		members = appendMember(members, r)
		return nil
	})
	if err == nil {
		c.met(members)
	}
	return err
}

// appendMember adds a row of runningNodes, unless the node has announced nothing.
func appendMember(members []Member, r Row) []Member {
	if r.IsNull(1) {
		return members
	}
	return append(members, Member{r.Int(0), r.Text(1)})
}

// forget removes the rows of nodes that are gone. A node has its lock before its
// row, so the row of a running node is never removed.
func (c *elector) forget(ctx context.Context) error {
	_, err := c.e.tx(ctx, c.conn).Exec(`DELETE FROM node WHERE node NOT IN (` + lockedNodes + `)`)
	return err
}
