package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/store/signal"
	"anodyne.example/anodyne/internal/worker"
)

// Duty is what a node does in the background, among those that share the
// database. It only saves work: every piece of work has its own fence, so two nodes
// that both consider themselves elected do no harm.
type Duty int

const (
	// Alone means that no other node is known to do the work: there is no
	// election, or this node hears nothing from the elected one. It polls
	// often.
	Alone Duty = iota
	// Leading means that this node is elected: it polls rarely, and others rely
	// on it.
	Leading
	// Following means that another node is elected and was heard recently.
	Following
)

const (
	// leaseTime is how long an elected node stays elected without renewing its
	// lease, by the clock of the database. If its process ends, the others need
	// not wait for that.
	leaseTime = 10 * time.Second
	// pulseEvery is how often the elected node renews its lease, and tells all
	// nodes that it is alive.
	pulseEvery = time.Second
	// PulseTime is how long a node relies on the last pulse it heard.
	PulseTime = 3 * time.Second
	// leaderRest is how often the elected node polls without a notification.
	leaderRest = time.Minute
	// lookAgain is how long after an alarm nodes poll once more. By then, the
	// leases of a node that is gone have ended.
	lookAgain = 20 * time.Second
)

// nodes is what this node knows about the others.
type nodes struct {
	mu      sync.Mutex
	hears   map[string]func(text string)
	carry   string // selects the text of pulses
	up      bool   // notifications of other nodes arrive
	pulse   Pulse
	leads   time.Time // until when this node is elected, by the local clock
	alarms  uint64
	again   time.Time // when to poll once more after an alarm, or zero
	pulsed  *signal.Signal
	resigns chan struct{} // the elected node has resigned
	rounds  *worker.Rounds

	// See members.go. told is the digest of the members in the last pulse.
	announced string
	self      int64
	members   []Member
	told      string
}

// Pulse is a sign of life of the elected node.
type Pulse struct {
	// Text is what the elected node read from the database for all nodes.
	Text string
	// At is when it was heard.
	At time.Time
	// Gap is the time since the previous one. If it is longer than PulseTime,
	// the pulse itself may have been late.
	Gap time.Duration
}

func newNodes() *nodes {
	return &nodes{hears: map[string]func(string){}, pulsed: signal.New(), resigns: make(chan struct{}, 1), rounds: worker.NewRounds(nil, electionWorker, pulseEvery)}
}

// electionWorker is the worker label of elections in metrics.
const electionWorker = "election"

// Hear calls heard with each text that a node sends on a channel with
// [DB.Tell], while [DB.Listen] runs. It must be called before that.
func (db *DB) Hear(channel string, heard func(text string)) {
	db.nodes.mu.Lock()
	defer db.nodes.mu.Unlock()
	db.nodes.hears[channel] = heard
}

// Carry sets the expression whose value, a text, every pulse carries to all
// nodes.
func (db *DB) Carry(sql string) {
	db.nodes.mu.Lock()
	defer db.nodes.mu.Unlock()
	db.nodes.carry = sql
}

// Pulse returns the last pulse heard, and a channel that is closed at the next.
func (db *DB) Pulse() (Pulse, <-chan struct{}) {
	db.nodes.mu.Lock()
	defer db.nodes.mu.Unlock()
	return db.nodes.pulse, db.nodes.pulsed.Wait()
}

// Duty returns what this node has to do now.
func (db *DB) Duty() Duty {
	duty, _ := db.nodes.duty(time.Now())
	return duty
}

func (n *nodes) duty(now time.Time) (Duty, uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.again.IsZero() && now.After(n.again) {
		n.alarms, n.again = n.alarms+1, time.Time{}
	}
	switch {
	case !n.up || n.pulse.At.IsZero() || now.Sub(n.pulse.At) > PulseTime:
		return Alone, n.alarms
	case now.Before(n.leads):
		return Leading, n.alarms
	}
	return Following, n.alarms
}

// beat records a pulse.
func (n *nodes) beat(text string, now time.Time) {
	n.mu.Lock()
	n.pulse, n.told = pulseOf(text, now, n.pulse.At)
	n.mu.Unlock()
	n.pulsed.Broadcast()
}

// lead records until when this node is elected; zero means that it is not. A
// newly elected node polls at once, and again when the leases of its
// predecessor, which may have been killed, have expired.
func (n *nodes) lead(until time.Time) (changed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	changed = n.leads.IsZero() != until.IsZero()
	n.leads = until
	if changed {
		n.alarms++
	}
	if changed && !until.IsZero() {
		n.again = time.Now().Add(lookAgain)
	}
	return changed
}

// listening records whether notifications arrive. If they do again, some may
// have been missed, so this node polls at once.
func (n *nodes) listening(up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = up
	n.alarms++
}

// alarm makes this node poll at once.
func (n *nodes) alarm() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alarms++
	n.again = time.Now().Add(lookAgain)
}

// Poll decides when a worker has to look for work without having been notified.
type Poll struct {
	nodes        *nodes
	lead, follow time.Duration
	next         time.Time
	duty         Duty
	alarms       uint64
}

// NewPoll returns a Poll that is always due if this node is alone, once a minute
// if it is elected, and otherwise at the interval follow, or never if that is
// zero. It is also due at once if notifications may have been missed.
func (db *DB) NewPoll(follow time.Duration) *Poll {
	return &Poll{nodes: db.nodes, lead: leaderRest, follow: follow}
}

// Leading sets how often to poll while this node is elected.
func (p *Poll) Leading(every time.Duration) *Poll {
	p.lead = every
	return p
}

// Due reports whether to poll now. The caller does so, or calls Again.
func (p *Poll) Due() bool {
	now := time.Now()
	duty, alarms := p.nodes.duty(now)
	rest := p.follow
	if duty == Leading {
		rest = p.lead
	}
	due := duty == Alone || duty != p.duty || alarms != p.alarms || rest > 0 && !now.Before(p.next)
	p.duty, p.alarms = duty, alarms
	if due {
		p.next = now.Add(rest + rand.N(rest/4+1)) // nodes that started together spread out
	}
	return due
}

// Again makes the next call of Due return true, because polling failed.
func (p *Poll) Again() { p.alarms-- }

// Elect takes part in the election of the node for background work until the
// context ends. On an engine with a single node it returns at once.
func (db *DB) Elect(ctx context.Context) error { return db.engine.elect(ctx, db.nodes, db.Log) }
