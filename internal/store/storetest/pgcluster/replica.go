package pgcluster

// Replica starts a second server that replicates this one by streaming, and
// makes commits here wait for it: once it returns, everything acknowledged is
// on both. The replica lives as long as the test.
func (c *Cluster) Replica() *Cluster {
	c.tb.Helper()
	s, err := c.server.Replica()
	c.must(err)
	return newCluster(c.tb, s)
}

// Promote makes a replica the primary and returns when it accepts writes.
func (c *Cluster) Promote() {
	c.tb.Helper()
	c.must(c.server.Promote())
}

// DSNWith returns an address that names this server and then the other, and
// connects to the one that accepts writes.
func (c *Cluster) DSNWith(other *Cluster) string { return c.server.DSNWith(other.server) }
