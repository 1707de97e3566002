package bench

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver accepts webhooks on loopback and records when the event of each
// patient first arrived.
type receiver struct {
	url    string
	server *http.Server

	mu      sync.Mutex
	arrived map[string]time.Time // by patient
	latest  time.Time            // time of the response to the last event
	gate    chan struct{}        // closed to release responses
	news    chan struct{}        // closed at the next arrival
}

func newReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/", arrived: map[string]time.Time{}, gate: make(chan struct{}), news: make(chan struct{})}
	close(r.gate)
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: startTime}
	go func() { _ = r.server.Serve(listener) }() // ends with close
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP records the arrival of an event.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	now := time.Now()
	body, _ := io.ReadAll(request.Body) // an incomplete body has no patient
	_, rest, _ := bytes.Cut(body, []byte(`"patient_id":"`))
	patient, _, found := bytes.Cut(rest, []byte{'"'})
	r.mu.Lock()
	gate := r.gate
	r.mu.Unlock()
	select {
	case <-gate:
	case <-request.Context().Done():
		return
	}
	if !found {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, repeated := r.arrived[string(patient)]; repeated {
		return
	}
	r.arrived[string(patient)], r.latest = now, time.Now()
	close(r.news)
	r.news = make(chan struct{})
}

// hold delays responses until release.
func (r *receiver) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = make(chan struct{})
}

func (r *receiver) release() { close(r.gate) }

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived)
}

// last returns the time of the response to the last event. A delayed event may
// have arrived long before.
func (r *receiver) last() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

func (r *receiver) arrival(patient string) (at time.Time, arrived bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, arrived = r.arrived[patient]
	return at, arrived
}

// await waits until this many events have arrived, or a timeout.
func (r *receiver) await(ctx context.Context, count int) {
	ctx, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	for {
		r.mu.Lock()
		have, news := len(r.arrived), r.news
		r.mu.Unlock()
		if have >= count {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// dead are receivers that accept connections and never respond.
type dead struct {
	urls      []string
	listeners []net.Listener
	accepting sync.WaitGroup
	mu        sync.Mutex
	taken     []net.Conn
}

func newDeadReceivers(count int) (*dead, error) {
	d := new(dead)
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			d.close()
			return nil, err
		}
		d.listeners = append(d.listeners, listener)
		d.urls = append(d.urls, "http://"+listener.Addr().String()+"/")
		d.accepting.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				d.mu.Lock()
				d.taken = append(d.taken, conn)
				d.mu.Unlock()
			}
		})
	}
	return d, nil
}

// close ends the hanging attempts.
func (d *dead) close() {
	for _, l := range d.listeners {
		_ = l.Close()
	}
	d.accepting.Wait()
	for _, conn := range d.taken {
		_ = conn.Close()
	}
}
