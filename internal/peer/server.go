package peer

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Answerer answers a question of another node.
type Answerer func(ctx context.Context, question []byte) (answer []byte, err error)

// Service is what a node offers to others.
type Service struct {
	// Self returns the current number of this node. Questions to another number
	// are refused, because they were meant for a process that was at this address
	// before.
	Self   func() int64
	Answer Answerer
	Log    *slog.Logger
	// State, if not nil, is called when the state of a connection changes, so that
	// the listener can limit them.
	State func(net.Conn, http.ConnState)
	// Patience is how long to wait for another node that connects or receives an
	// answer. By default it is a few seconds; tests set it.
	Patience time.Duration
}

// Server answers the questions of other nodes.
type Server struct {
	Service
	http    *http.Server
	room    chan struct{}
	silence time.Duration
}

// Serve answers questions on a listener until the server is closed.
func Serve(l net.Listener, who *Identity, service Service) *Server {
	s := newServer(service)
	s.run(l, who)
	return s
}

func newServer(service Service) *Server {
	s := &Server{Service: service, room: make(chan struct{}, mostQuestions), silence: cmp.Or(service.Patience, Silence)}
	s.http = &http.Server{
		// The handshake gets the same time as the header.
		Handler: s, ReadHeaderTimeout: cmp.Or(service.Patience, connectTime), IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 4 << 10,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug), ConnState: s.State,
	}
	return s
}

func (s *Server) run(l net.Listener, who *Identity) {
	go func() {
		if err := s.http.Serve(tls.NewListener(l, who.config())); !errors.Is(err, http.ErrServerClosed) {
			s.Log.Error("cannot answer other nodes", "error", err)
		}
	}()
}

// Close ends all questions.
func (s *Server) Close() error { return s.http.Close() }

// Asked returns the number of questions under way.
func (s *Server) Asked() int { return len(s.room) }

// ServeHTTP answers a question.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := &reply{w, http.NewResponseController(w), s.silence}
	reply.hurry()
	if r.Method != http.MethodPost || r.URL.Path != path || r.Header.Get(nodeHeader) != strconv.FormatInt(s.Self(), 10) {
		http.Error(w, "not for this node", http.StatusMisdirectedRequest)
		return
	}
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	default:
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	question, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestQuestion))
	if err != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	reply.heard()
	reply.send(working)
	stop := reply.keepAlive()
	answer, err := s.try(r.Context(), question)
	stop()
	if err != nil {
		if r.Context().Err() == nil {
			s.Log.Warn("cannot answer another node", "error", err)
		}
		reply.send(failed)
		return
	}
	reply.send(answered)
	reply.write(answer) // the other node notices an answer that is cut short
}

// try answers a question. A panic ends only that question.
func (s *Server) try(ctx context.Context, question []byte) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s.Answer(ctx, question)
}

// reply is a response under way. The node that asked must take each part of it in
// time, or its connection is closed: a process that was stopped would otherwise
// keep its place among the questions.
type reply struct {
	w       http.ResponseWriter
	control *http.ResponseController
	silence time.Duration
}

// hurry limits the time for the rest of the question, and for the next part of
// the response.
func (r *reply) hurry() {
	_ = r.control.SetReadDeadline(time.Now().Add(r.silence))
	_ = r.control.SetWriteDeadline(time.Now().Add(r.silence))
}

// heard ends the time limit for the question. From then on, net/http reads only
// to notice that the other node has left.
func (r *reply) heard() { _ = r.control.SetReadDeadline(time.Time{}) }

func (r *reply) send(sign byte) { r.write([]byte{sign}) }

func (r *reply) write(b []byte) {
	for part := range slices.Chunk(b, partSize) {
		_ = r.control.SetWriteDeadline(time.Now().Add(r.silence))
		if _, err := r.w.Write(part); err != nil {
			return
		}
	}
	_ = r.control.Flush()
}

// keepAlive sends signs of life until stop is called. Nothing else may be sent in
// the meantime.
func (r *reply) keepAlive() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lifeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.send(working)
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
