package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// side is one of the two servers under load.
type side struct {
	*child
	script  *script
	links   []*link
	charged bool // clients are charged for what they ask
	turns   []turn
}

// link is one connection of a side.
type link struct {
	net.Conn
	slot    *slot
	in      *bufio.Reader
	out     []byte
	latency histogram
	// wrong counts answers with another status than expected; status is the
	// first of them.
	wrong, status int
	err           error
}

// answerTime is how long an answer may take.
const answerTime = 30 * time.Second

func connect(ctx context.Context, c *child, s *script, slots []*slot, charged bool) (*side, error) {
	sd := &side{child: c, script: s, charged: charged}
	var dialer net.Dialer
	for _, slot := range slots {
		conn, err := dialer.DialContext(ctx, "tcp", c.address)
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

// slice keeps all connections busy for a time. The turn lasts until the last
// answer is there.
func (sd *side) slice(length time.Duration) (turn, error) {
	sd.resume()
	var done sync.WaitGroup
	var before, after uint64
	for _, l := range sd.links {
		before += l.latency.total
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
		after += l.latency.total
	}
	return turn{int64(after - before), took}, nil
}

// work asks again and again until the time is over.
func (l *link) work(sd *side, until time.Time) error {
	if err := l.SetDeadline(until.Add(answerTime)); err != nil {
		return err
	}
	for start := time.Now(); start.Before(until); {
		if sd.charged {
			if err := l.slot.use(); err != nil {
				return err
			}
		}
		l.out = sd.script.render(l.out[:0], l.slot.n, l.slot.token)
		l.slot.n++
		if _, err := l.Write(l.out); err != nil {
			return err
		}
		status, err := readAnswer(l.in)
		if err != nil {
			return err
		}
		end := time.Now()
		l.latency.add(end.Sub(start))
		start = end
		if status != sd.script.expect {
			if l.wrong++; l.status == 0 {
				l.status = status
			}
		}
	}
	return nil
}

// forget starts the counting anew, after the warm-up; wrong answers stay.
func (sd *side) forget() {
	sd.turns = nil
	for _, l := range sd.links {
		l.latency = histogram{}
	}
}

// latency of all connections.
func (sd *side) latency() *histogram {
	all := new(histogram)
	for _, l := range sd.links {
		all.merge(&l.latency)
	}
	return all
}

// errors gives the number of wrong answers and the words for the first.
func (sd *side) errors() (count int, first string) {
	for _, l := range sd.links {
		if count += l.wrong; l.wrong > 0 && first == "" {
			first = fmt.Sprintf("status %d instead of %d", l.status, sd.script.expect)
		}
	}
	return count, first
}
