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

// ErrUnavailable reports that this machine cannot run PostgreSQL. Errors that
// wrap it give the reason.
var ErrUnavailable = errors.New("PostgreSQL is not available")

// patience bounds each operation on a server. A start after a kill replays the
// log, on a machine that is busy with other tests.
const patience = 5 * time.Minute

// Durability is what a cluster does to survive a crash of the machine.
type Durability string

const (
	// Volatile suits the cluster that tests share: they kill processes that use
	// it, but never the machine, so nothing is lost by not waiting for the
	// disk. The log is kept short, because it may be in memory.
	Volatile Durability = "fsync = off\nfull_page_writes = off\nmax_wal_size = 256MB\n"
	// Durable suits tests and benchmarks of crashes and of speed.
	Durable Durability = "fsync = on\nfull_page_writes = on\n"
)

// Server is a cluster in a directory, with its processes.
type Server struct {
	bin      string
	owner    owner
	dir      string
	port     int
	password string
	guard    *guard
	// alive is one end of a pipe whose other end all processes of the server
	// hold open. It reaches EOF when the last of them has ended.
	alive *os.File
}

// Available returns an ErrUnavailable that explains why this machine cannot run
// a cluster, or nil if it can.
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

// Launch creates and starts a cluster. The error is ErrUnavailable if
// PostgreSQL is not installed; any other error is a failure to investigate. Its
// files are in a new directory in dir. If dir is "", that is created in the
// system's folder for temporary files or, for a volatile cluster, in memory.
func Launch(kind Durability, dir string) (*Server, error) {
	if dir == "" {
		dir = place(kind)
	}
	return prepare(dir, rand.Text(), func(ctx context.Context, s *Server) error { return s.initialise(ctx, kind) })
}

// prepare creates a directory with its guard, calls fill for it, and starts the
// server.
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

// initialise creates the cluster's files. It sets a password, because others on
// the machine can reach the port and a superuser can run programs. The password
// is random and lives as long as the server, so md5 suffices: SCRAM takes
// several milliseconds of CPU time for each of thousands of connections.
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
		// In the directory, so that it is removed with it after a kill.
		"dynamic_shared_memory_type = mmap\n" +
		"timezone = 'UTC'\n")
}

// configure adds settings. The last one with a name takes effect.
func (s *Server) configure(settings string) error {
	return appendFile(filepath.Join(s.data(), "postgresql.conf"), settings)
}

func (s *Server) socketSetting() string {
	return "unix_socket_directories = '" + s.socketDirectory() + "'\n"
}

// socketDirectory returns the directory of the cluster, or "" if TMPDIR is so
// deep that the path of a socket in it would be too long.
func (s *Server) socketDirectory() string {
	const longest = len(syscall.RawSockaddrUnix{}.Path) - len("/.s.PGSQL.12345.lock")
	if len(s.dir) >= longest || strings.ContainsAny(s.dir, `'",\`) {
		return ""
	}
	return s.dir
}

// startOnFreePort tries ports until one is really free: another process may
// take it between the check and the start.
func (s *Server) startOnFreePort() error {
	for attempt := 1; ; attempt++ {
		port, err := FreePorts(1)
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

// FreePorts returns the first of n consecutive ports that are free. They are below
// the range for outgoing connections, so that they stay free while their servers
// are down.
func FreePorts(n int) (first int, err error) {
	for range 50 {
		first, err = 15000+mathrand.IntN(17000), nil
		for port := first; port < first+n && err == nil; port++ {
			var l net.Listener
			if l, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
				err = l.Close()
			}
		}
		if err == nil {
			return first, nil
		}
	}
	return 0, err
}

// Discard stops the server, whatever its state, and removes its files.
func (s *Server) Discard() error {
	err := s.guard.release()
	if s.Running() {
		err = errors.Join(err, s.awaitEnd())
	}
	return err
}

// DSN returns the address of the postgres database, which does not change when
// the server restarts.
func (s *Server) DSN() string { return s.address("sslmode=disable", s) }

// address returns an address that names several servers, which share a
// password, in the order to try them.
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

// Dir returns the directory of the server's files. It is removed with the
// server.
func (s *Server) Dir() string { return s.dir }
