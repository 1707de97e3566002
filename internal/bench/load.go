package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// side is one of the servers being compared, or several that share the
// connections.
type side struct {
	nodes   []*child
	script  *script
	links   []*link
	charged bool // requests count against the clients' allowance
	free    bool // not paused while another is measured
	turns   []turn
}

// link is one connection of a side.
type link struct {
	net.Conn
	slot   *slot
	in     *bufio.Reader
	out    []byte
	reads  histogram // latencies of read-only requests
	writes histogram
	// wrong counts responses with an unexpected status; status is the first of
	// them, and expect what it should have been.
	wrong, status, expect int
	err                   error
}

// total returns the number of responses.
func (l *link) total() uint64 { return l.reads.total + l.writes.total }

// answerTime is how long a response may take.
const answerTime = 30 * time.Second

func connect(ctx context.Context, nodes []*child, s *script, slots []*slot, charged bool) (*side, error) {
	sd := &side{nodes: nodes, script: s, charged: charged}
	for i, slot := range slots {
		conn, err := nodes[i%len(nodes)].dial(ctx)
		if err != nil {
			sd.close()
			return nil, err
		}
		sd.links = append(sd.links, &link{Conn: conn, slot: slot, in: bufio.NewReaderSize(conn, 16<<10), out: make([]byte, 0, 1<<10)})
	}
	return sd, nil
}

func (sd *side) close() {
	for _, l := range sd.links {
		_ = l.Close()
	}
}

// pause suspends a server while another is measured, so that its background
// work does not take time from the other.
func (sd *side) pause() {
	for _, c := range sd.nodes {
		if !sd.free {
			c.pause()
		}
	}
}

// slice keeps all connections busy for a time. The turn lasts until the last
// response.
func (sd *side) slice(length time.Duration) (turn, error) {
	for _, c := range sd.nodes {
		c.resume()
	}
	var done sync.WaitGroup
	var before, after uint64
	for _, l := range sd.links {
		before += l.total()
	}
	start := time.Now()
	for _, l := range sd.links {
		done.Go(func() { l.err = l.work(sd, start.Add(length)) })
	}
	done.Wait()
	took := time.Since(start)
	sd.pause()
	for _, l := range sd.links {
		if l.err != nil {
			return turn{}, l.err
		}
		after += l.total()
	}
	return turn{int64(after - before), took}, nil
}

// work sends requests until the time is over, but at least one: on a busy
// machine it may be scheduled too late.
func (l *link) work(sd *side, until time.Time) error {
	if err := l.SetDeadline(until.Add(answerTime)); err != nil {
		return err
	}
	for start := time.Now(); ; {
		if sd.charged {
			if err := l.slot.use(); err != nil {
				return err
			}
		}
		part := sd.script.part(l.slot.n)
		l.out = sd.script.render(l.out[:0], l.slot)
		l.slot.n++
		if _, err := l.Write(l.out); err != nil {
			return err
		}
		status, err := readAnswer(l.in)
		if err != nil {
			return err
		}
		end := time.Now()
		if part.method == http.MethodGet {
			l.reads.add(end.Sub(start))
		} else {
			l.writes.add(end.Sub(start))
		}
		start = end
		if status != part.expect {
			if l.wrong++; l.status == 0 {
				l.status, l.expect = status, part.expect
			}
		}
		if !start.Before(until) {
			return nil
		}
	}
}

// forget resets the counts after the warm-up, except for wrong responses.
func (sd *side) forget() {
	sd.turns = nil
	for _, l := range sd.links {
		l.reads, l.writes = histogram{}, histogram{}
	}
}

// latencies returns the latencies of all connections.
func (sd *side) latencies() (reads, writes, all histogram) {
	for _, l := range sd.links {
		reads.merge(&l.reads)
		writes.merge(&l.writes)
	}
	all.merge(&reads)
	all.merge(&writes)
	return reads, writes, all
}

// errors returns the number of wrong responses and a description of the first.
func (sd *side) errors() (count int, first string) {
	for _, l := range sd.links {
		if count += l.wrong; l.wrong > 0 && first == "" {
			first = fmt.Sprintf("status %d instead of %d", l.status, l.expect)
		}
	}
	return count, first
}
