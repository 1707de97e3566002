package engine

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Member is a node that is running, by its number, and what it announced.
type Member struct {
	Node int64
	Text string
}

// Announce sets what this node announces to the others. It must be called
// before [DB.Elect]. Nodes that announce nothing are no members.
func (db *DB) Announce(text string) {
	db.nodes.mu.Lock()
	defer db.nodes.mu.Unlock()
	db.nodes.announced = text
}

// Members returns the number of this node, which is 0 while it has none, and the
// nodes that were running when the elected node last looked, in order of their
// numbers. A change reaches all nodes within about two seconds. The caller must
// not change the list.
func (db *DB) Members() (self int64, all []Member) {
	db.nodes.mu.Lock()
	defer db.nodes.mu.Unlock()
	return db.nodes.self, db.nodes.members
}

// called sets the number of this node.
func (n *nodes) called(self int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.self = self
}

// met replaces the members.
func (n *nodes) met(members []Member) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.members, members) {
		n.members = members
	}
}

// outdated reports whether the elected node knows other members than this one.
// This is also how a node notices that it lost the connection that holds its
// lock, which it does not use otherwise. An elected node of an older version
// tells nothing.
func (n *nodes) outdated() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.told != "" && n.told != digest(n.members)
}

// digest identifies a list of members. It is never empty.
func digest(members []Member) string {
	h := fnv.New64a()
	for _, m := range members {
		_, _ = h.Write([]byte(strconv.FormatInt(m.Node, 10) + " " + m.Text + "\n"))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// pulseOf reads a pulse, which is the carried text and the digest of the members.
func pulseOf(text string, now time.Time, last time.Time) (p Pulse, told string) {
	text, told, _ = strings.Cut(text, "\n")
	return Pulse{Text: text, At: now, Gap: now.Sub(last)}, told
}
