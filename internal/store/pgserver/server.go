package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrUnavailable says that this machine cannot run PostgreSQL; the text says why.
var ErrUnavailable = errors.New("PostgreSQL is not available")

// patience bounds each step of a server's life. A start after a kill replays
// the log, on a machine that is busy with other tests.
const patience = 5 * time.Minute

// Durability is what a cluster does to survive the machine's own crash.
type Durability string

const (
	// Volatile suits the cluster that tests share: they kill processes that use
	// it, never the machine, so nothing is lost by not waiting for the disk. The
	// log is kept short, because it may be in memory.
	Volatile Durability = "fsync = off\nfull_page_writes = off\nmax_wal_size = 256MB\n"
	// Durable suits a cluster whose own crash is the test, or whose speed.
	Durable Durability = "fsync = on\nfull_page_writes = on\n"
)

// Server is a cluster in a directory and the processes that serve it.
type Server struct {
	bin      string
	owner    owner
	dir      string
	port     int
	password string
	guard    *guard
	// alive is the end of a pipe whose other end every process of the server
	// holds: it ends when the last of them has gone.
	alive *os.File
}

// Available says why a cluster cannot be started on this machine; the error is
// ErrUnavailable. It is nil when one can.
func Available() error {
	_, _, err := requirements()
	return err
}

func requirements() (bin string, own owner, err error) {
	bin, ok := Binaries()
	if !ok {
		return "", owner{}, fmt.Errorf("%w: version %d or newer is not installed", ErrUnavailable, oldest)
	}
	own, err = findOwner()
	if err != nil {
		return "", owner{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return bin, own, nil
}

// Launch makes a cluster and starts it. A machine without PostgreSQL is
// ErrUnavailable; anything else that fails is a fault to look into. Its files
// are in a new directory of dir, or, when that is "", of the system's folder
// for temporary ones or, of a volatile cluster, in memory.
func Launch(kind Durability, dir string) (*Server, error) {
	if dir == "" {
		dir = place(kind)
	}
	return prepare(dir, rand.Text(), func(ctx context.Context, s *Server) error { return s.initialise(ctx, kind) })
}

// prepare makes a directory with its guard, has it filled, and starts the
// server in it.
func prepare(dir, password string, fill func(context.Context, *Server) error) (*Server, error) {
	bin, own, err := requirements()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dir, err = own.workspace(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, owner: own, dir: dir, password: password}
	if s.guard, err = newGuard(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := fill(ctx, s); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	if err := s.startOnFreePort(); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *Server) program(name string) string { return filepath.Join(s.bin, name) }
func (s *Server) data() string               { return filepath.Join(s.dir, "data") }
func (s *Server) log() string                { return filepath.Join(s.dir, "log") }
func (s *Server) lock() string               { return filepath.Join(s.data(), "postmaster.pid") }

// initialise makes the cluster's files. A password is asked for, because others
// on the machine can reach the port and a superuser can run programs. It is
// random and lives as long as the server, so md5 will do: SCRAM takes several
// milliseconds of processor time for each of thousands of connections.
func (s *Server) initialise(ctx context.Context, kind Durability) error {
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte(s.password), 0o600); err != nil {
		return err
	}
	if err := s.owner.take(password); err != nil {
		return err
	}
	err := s.owner.run(ctx, s.program("initdb"), "--pgdata="+s.data(), "--username=postgres",
		"--pwfile="+password, "--auth=md5", "--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return err
	}
	return s.configure(string(kind) +
		"synchronous_commit = on\n" +
		"listen_addresses = '127.0.0.1'\n" +
		s.socketSetting() +
		"max_connections = 300\n" +
		// In the directory, so that a killed server's is removed with it.
		"dynamic_shared_memory_type = mmap\n" +
		"timezone = 'UTC'\n")
}

// configure adds settings; of two with one name the later holds.
func (s *Server) configure(settings string) error {
	return appendFile(filepath.Join(s.data(), "postgresql.conf"), settings)
}

func (s *Server) socketSetting() string {
	return "unix_socket_directories = '" + s.socketDirectory() + "'\n"
}

// socketDirectory is the cluster's own, or none when TMPDIR is so deep that the
// system would not take the path of a socket in it.
func (s *Server) socketDirectory() string {
	const longest = len(syscall.RawSockaddrUnix{}.Path) - len("/.s.PGSQL.12345.lock")
	if len(s.dir) >= longest || strings.ContainsAny(s.dir, `'",\`) {
		return ""
	}
	return s.dir
}

// startOnFreePort tries ports until one is really free: between the look and
// the start, another process may take it.
func (s *Server) startOnFreePort() error {
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		if err := s.configure(fmt.Sprintf("port = %d\n", port)); err != nil {
			return err
		}
		s.port = port
		err = s.Start()
		if err == nil || attempt == 5 || !strings.Contains(err.Error(), "could not bind") {
			return err
		}
	}
}

// freePort looks below the range from which the system serves outgoing
// connections, so that a port stays free while its server is down.
func freePort() (int, error) {
	var failed error
	for range 50 {
		port := 15000 + mathrand.IntN(17000)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
		failed = err
	}
	return 0, failed
}

// Discard stops the server, whatever state it is in, and removes its files.
func (s *Server) Discard() error {
	err := s.guard.release()
	if s.Running() {
		err = errors.Join(err, s.awaitEnd())
	}
	return err
}

func (s *Server) DSN() string { return s.address("sslmode=disable", s) }

// address names several servers, which share a password, in the order in which
// they are tried.
func (s *Server) address(query string, servers ...*Server) string {
	hosts := make([]string, len(servers))
	for i, one := range servers {
		hosts[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(one.port))
	}
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     strings.Join(hosts, ","),
		Path:     "/postgres",
		RawQuery: query,
	}
	return u.String()
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Dir is the directory of the server's files, which goes with it.
func (s *Server) Dir() string { return s.dir }
