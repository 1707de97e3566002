package pgcluster

// Replica starts a second server that follows this one by streaming, and makes
// commits here wait for it: from its return on, what is acknowledged is on both.
// The replica lives as long as the test.
func (c *Cluster) Replica() *Cluster {
	c.tb.Helper()
	s, err := c.server.Replica()
	c.must(err)
	return newCluster(c.tb, s)
}

// Promote makes a replica a primary and returns when it takes writes.
func (c *Cluster) Promote() {
	c.tb.Helper()
	c.must(c.server.Promote())
}

// DSNWith returns an address that names this server and then the other, and
// takes whichever of them takes writes.
func (c *Cluster) DSNWith(other *Cluster) string { return c.server.DSNWith(other.server) }
