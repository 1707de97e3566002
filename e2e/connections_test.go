package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultIdleConnections opens 5,000 connections and leaves them: they cost
// little, and others are answered as before.
func TestFaultIdleConnections(t *testing.T) {
	testneed.Long(t, "waiting for connections that say nothing")
	const count = 5000
	s := newService(t, storetest.SQLite)
	n := s.node(0)
	c := n.as(s.register("enterprise"))
	page := func() {
		t.Helper()
		if _, err := c.Patients(t.Context(), client.PatientQuery{}); err != nil {
			t.Fatal(err)
		}
	}
	page()
	before := n.memory()
	idle := n.leave(t, count)
	page()
	after := n.memory()
	each := (after - before) / count
	t.Logf("%d idle connections: %d KiB before, %d KiB after, %d bytes each", count, before>>10, after>>10, each)
	if each > 64<<10 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	for _, conn := range idle[count-3:] { // they are still good; the first have perhaps been idle for too long
		if err := ask(conn); err != nil {
			t.Error(err)
		}
	}
}

// TestFaultFewFiles limits the process to 160 files. Its connections are
// limited so that they do not use them up, and idle ones make room for others.
func TestFaultFewFiles(t *testing.T) {
	s := newService(t, storetest.SQLite)
	app := s.register("enterprise")
	n := s.few(160)
	n.leave(t, 200)
	if _, err := n.as(app).CreatePatient(t.Context(), client.NewPatient{Name: "A", DateOfBirth: "1980-02-29"}); err != nil {
		t.Errorf("beside 200 idle connections: %v", err)
	}
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestFaultNoFiles lets connections use up all files, by a bound that is too
// high: the process goes on, does not spin, and is well again without a
// restart.
func TestFaultNoFiles(t *testing.T) {
	testneed.Long(t, "waiting for connections that say nothing")
	for range faulttest.Rounds(t, 1) {
		t.Run("sqlite", noFiles)
	}
}

func noFiles(t *testing.T) {
	s := newService(t, storetest.SQLite)
	app := s.register("enterprise")
	n := s.few(100, "--max-connections", "99")
	c := n.as(app)
	if _, err := c.Patients(t.Context(), client.PatientQuery{}); err != nil {
		t.Fatal(err)
	}
	var busy []net.Conn
	for range 150 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		// A request whose body never arrives cannot be closed to make room.
		if _, err := fmt.Fprint(conn, "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		busy = append(busy, conn)
	}
	n.await("out of file descriptors")
	used := n.processor()
	<-time.After(2 * time.Second) // not to wait for something, but to see what nothing costs
	if used = n.processor() - used; used > time.Second {
		t.Errorf("the process used %v of 2 s for nothing", used)
	}
	for _, conn := range busy {
		conn.Close()
	}
	eventually(t, patience, "an answer", func() bool {
		_, err := c.CreatePatient(t.Context(), client.NewPatient{Name: "A", DateOfBirth: "1980-02-29"})
		return err == nil
	})
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.check()
}

// TestTooManyConnectionsForTheFiles: a limit that cannot be kept is rejected.
func TestTooManyConnectionsForTheFiles(t *testing.T) {
	s := newService(t, storetest.SQLite)
	refusedStart(t, files(100), "--max-connections: must be at least 1 and below the open file limit of 100", "--database", s.database, "--max-connections", "100")
}

// files lets a process open so many.
func files(limit int) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, limit), cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	}
}

// few starts a node that may open so many files.
func (s *service) few(limit int, args ...string) *node {
	s.tb.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}, s.flags("node0")...)
	n := &node{process: start(s.tb, files(limit), append(all, args...)...), transport: newTransport(s.tb)}
	n.ready()
	return n
}

// leave opens connections that were used once.
func (n *node) leave(t *testing.T, count int) (conns []net.Conn) {
	t.Helper()
	for range count {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := ask(conn); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	return conns
}

// ask makes one small request.
func ask(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// memory is what the process has of the machine's, in bytes.
func (p *process) memory() int {
	p.tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.tb.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				p.tb.Fatal(err)
			}
			return kib << 10
		}
	}
	p.tb.Fatalf("no VmRSS in %s", status)
	return 0
}

// processor is the time that the process has used.
func (p *process) processor() time.Duration {
	p.tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.tb.Fatal(err)
	}
	// Behind the name, fields 12 and 13 are ticks of 10 ms.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			p.tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
