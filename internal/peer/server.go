package peer

import (
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

// Server answers the questions of other nodes.
type Server struct {
	http   *http.Server
	self   func() int64
	answer Answerer
	log    *slog.Logger
	room   chan struct{}
	// silence is the constant, or a value set by a test.
	silence time.Duration
}

// Serve answers questions on a listener until the server is closed. self is the
// current number of this node; questions to another number are refused, because
// they were meant for a process that was at this address before. state is called
// when the state of a connection changes, so that the listener can limit them; it
// may be nil.
func Serve(l net.Listener, who *Identity, self func() int64, answer Answerer, log *slog.Logger, state func(net.Conn, http.ConnState)) *Server {
	s := newServer(self, answer, log)
	s.http.ConnState = state
	s.run(l, who)
	return s
}

func newServer(self func() int64, answer Answerer, log *slog.Logger) *Server {
	s := &Server{self: self, answer: answer, log: log, room: make(chan struct{}, mostQuestions), silence: Silence}
	s.http = &http.Server{
		// The handshake gets the same time as the header.
		Handler: s, ReadHeaderTimeout: connectTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 4 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

func (s *Server) run(l net.Listener, who *Identity) {
	go func() {
		if err := s.http.Serve(tls.NewListener(l, who.config())); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("cannot answer other nodes", "error", err)
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
	if r.Method != http.MethodPost || r.URL.Path != path || r.Header.Get(nodeHeader) != strconv.FormatInt(s.self(), 10) {
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
			s.log.Warn("cannot answer another node", "error", err)
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
	return s.answer(ctx, question)
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
