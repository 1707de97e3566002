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
}

// Serve answers questions on a listener until the server is closed. self is the
// current number of this node; questions to another number are refused, because
// they were meant for a process that was at this address before.
func Serve(l net.Listener, who *Identity, self func() int64, answer Answerer, log *slog.Logger) *Server {
	return serve(l, who, self, answer, log, mostQuestions)
}

// serve is Serve with another number of questions that may be under way.
func serve(l net.Listener, who *Identity, self func() int64, answer Answerer, log *slog.Logger, most int) *Server {
	s := &Server{self: self, answer: answer, log: log, room: make(chan struct{}, most)}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: Silence, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 4 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := s.http.Serve(tls.NewListener(l, who.config())); !errors.Is(err, http.ErrServerClosed) {
			log.Error("cannot answer other nodes", "error", err)
		}
	}()
	return s
}

// Close ends all questions.
func (s *Server) Close() error { return s.http.Close() }

// Asked returns the number of questions under way.
func (s *Server) Asked() int { return len(s.room) }

// ServeHTTP answers a question.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	reply := reply{w}
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
	_, _ = w.Write(answer) // the other node notices an answer that is cut short
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

// reply is a response under way.
type reply struct{ w http.ResponseWriter }

func (r reply) send(sign byte) {
	_, _ = r.w.Write([]byte{sign})
	_ = http.NewResponseController(r.w).Flush()
}

// keepAlive sends signs of life until stop is called. Nothing else may be sent in
// the meantime.
func (r reply) keepAlive() (stop func()) {
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
