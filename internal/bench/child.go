package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// child is a server in its own process. One that was not started here has an
// address and no process.
type child struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string // host and port
	host    string // Host header, if it is not the address
	tls     *tls.Config
	admin   string // URL of metrics and pprof; only for the product
	ready   time.Duration
	exited  chan struct{}
	failure error // exit error; valid after exited is closed
}

const (
	// startTime is how long a child may take to start.
	startTime = 2 * time.Minute
	// stopTime is how long a child may take to stop before it is killed.
	stopTime = 30 * time.Second
)

// run starts a command in an environment with none of this service's variables
// except those given, so that only the options determine what is measured.
func run(cmd *exec.Cmd, variables ...string) (*child, error) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "ANODYNE_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, variables...)
	cmd.SysProcAttr = ownGroup() // only the parent receives Ctrl-C, and stops its children in order
	cmd.WaitDelay = stopTime
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		c.failure = cmd.Wait()
	}()
	return c, nil
}

// stop stops a child, even if it is paused, and waits for it.
func (c *child) stop() error {
	if c.stdin != nil {
		_ = c.stdin.Close()
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have exited already
	c.resume()
	select {
	case <-c.exited:
	case <-time.After(stopTime):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
	if c.failure != nil {
		return fmt.Errorf("%s: %w", c.cmd.Args[1], c.failure)
	}
	return nil
}

// pause suspends the process.
func (c *child) pause() {
	if c.cmd != nil {
		_ = c.cmd.Process.Signal(syscall.SIGSTOP)
	}
}

func (c *child) resume() {
	if c.cmd != nil {
		_ = c.cmd.Process.Signal(syscall.SIGCONT)
	}
}

func (c *child) dial(ctx context.Context) (net.Conn, error) {
	if c.tls != nil {
		return (&tls.Dialer{Config: c.tls}).DialContext(ctx, "tcp", c.address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", c.address)
}

// name returns the Host header of requests.
func (c *child) name() string { return cmp.Or(c.host, c.address) }

// startServer starts the product on a filled database and waits until it is
// ready.
func startServer(ctx context.Context, o *Options, db *database) (*child, error) {
	log := &serverLog{serving: make(chan servingLine, 1), note: o.Note}
	cmd := exec.Command(o.Server, "serve", "--data-dir", db.DataDir, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json")
	if slices.Contains(o.Paths, webhookPath) {
		cmd.Args = append(cmd.Args, "--dev") // the receiver is on loopback
	}
	cmd.Stderr = log
	began := time.Now()
	c, err := run(cmd, db.variables...)
	if err != nil {
		return nil, err
	}
	if err := c.awaitReady(ctx, log); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the server: %w", err), c.stop())
	}
	c.ready = time.Since(began)
	return c, nil
}

func (c *child) awaitReady(ctx context.Context, log *serverLog) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case line := <-log.serving:
		u, err := url.Parse(line.URL)
		if err != nil {
			return err
		}
		c.address, c.admin = u.Host, line.Admin
	case <-c.exited:
		return errors.New("it ended at once")
	case <-ctx.Done():
		return ctx.Err()
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := fetch(ctx, "http://"+c.address+"/readyz"); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.exited:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// startFloor starts a baseline server that repeats recordings.
func startFloor(ctx context.Context, program string, recs recordings) (*child, error) {
	encoded, err := json.Marshal(recs)
	if err != nil {
		return nil, err
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	defer outRead.Close()
	cmd := exec.Command(program, FloorCommand)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, os.Stderr
	c, err := run(cmd)
	err = errors.Join(err, inRead.Close(), outWrite.Close())
	if err != nil {
		return nil, errors.Join(err, inWrite.Close())
	}
	c.stdin = inWrite
	if err := c.handOver(ctx, encoded, inWrite, outRead); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the baseline server: %w", err), c.stop())
	}
	return c, nil
}

// handOver sends the recordings to the baseline server and reads its address.
func (c *child) handOver(ctx context.Context, rec []byte, in, out *os.File) error {
	deadline := time.Now().Add(startTime)
	if err := errors.Join(in.SetWriteDeadline(deadline), out.SetReadDeadline(deadline)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Unix(1, 0)) })()
	if _, err := in.Write(rec); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	c.address = strings.TrimSpace(line)
	return err
}

// serverLog reads the product's log: its address, and warnings.
type serverLog struct {
	serving chan servingLine
	note    func(string)
	rest    []byte
}

// servingLine is the part of a log line that is needed.
type servingLine struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	URL     string `json:"url"`
	Admin   string `json:"admin"`
}

// Write accepts the log in pieces of any size.
func (l *serverLog) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	lines := l.rest
	for {
		text, rest, whole := bytes.Cut(lines, []byte{'\n'})
		if !whole {
			l.rest = append(l.rest[:0], lines...)
			return len(b), nil
		}
		l.read(text)
		lines = rest
	}
}

// requestLine is part of every line of the request log. These lines are not
// decoded, because reading them would take processor time from the server.
var requestLine = []byte(`,"msg":"request",`)

func (l *serverLog) read(text []byte) {
	if bytes.Contains(text, requestLine) {
		return
	}
	var line servingLine
	switch err := json.Unmarshal(text, &line); {
	case err != nil, line.Level == "WARN", line.Level == "ERROR":
		l.note("server: " + string(text))
	case line.Message == "serving":
		select {
		case l.serving <- line:
		default:
		}
	}
}

// fetch returns the body of a page; any status but 200 is an error.
func fetch(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", request.URL.Path, response.Status)
	}
	return body, err
}
