package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/server"
	"anodyne.example/anodyne/internal/store/storetest"
)

// childEnv makes the test binary a server, for what is about a process.
const childEnv = "ANODYNE_DEPLOY_TEST_SERVER"

func TestMain(m *testing.M) {
	if database := os.Getenv(childEnv); database != "" {
		serveUntilClosed(database)
		return
	}
	os.Exit(m.Run())
}

// node is a server whose metrics are looked at.
type node struct {
	t               *testing.T
	server          *server.Server
	database        string
	dataDir         string
	client          access.Principal
	secret, token   string
	url, metricsURL string
}

// startServer starts a server as the command does.
func startServer(database string, more ...string) (*server.Server, error) {
	var cfg config.Config
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	cfg.Serve(flags)
	args := append([]string{"--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--dev"}, more...)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	cfg.Finish()
	cfg.Version = "test"
	return server.Start(context.Background(), cfg, slog.New(slog.DiscardHandler))
}

// newNode starts a server on a new database, with a data directory of its own
// unless one is named.
func newNode(t *testing.T, engine, dataDir string) *node {
	t.Helper()
	opened := storetest.Database(t, engine)
	if dataDir != "" {
		opened.DataDir = dataDir
	}
	s, err := startServer(opened.Database, "--data-dir", opened.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, server: s, database: opened.Database, dataDir: opened.DataDir, secret: "secret of general", url: s.URL(), metricsURL: s.AdminURL() + "/metrics"}
	t.Cleanup(n.stop)
	n.client = storetest.Client(t, s.Store(), "general")
	return n
}

func (n *node) stop() {
	if n.server != nil {
		if err := n.server.Stop(); err != nil {
			n.t.Log(err) // the fault that was made may be in the way
		}
		n.server = nil
	}
}

// signIn gets a token of the node's client.
func (n *node) signIn() {
	n.t.Helper()
	answer, err := http.PostForm(n.url+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {n.client.ClientID.String()}, "client_secret": {n.secret}})
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	var grant struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&grant); err != nil || grant.Token == "" {
		n.t.Fatalf("no token: %s, %v", answer.Status, err)
	}
	n.token = grant.Token
}

// ask sends a request and returns its status, or 0 without a response.
func (n *node) ask(method, path, body string) int {
	request, err := http.NewRequest(method, n.url+path, strings.NewReader(body))
	if err != nil {
		n.t.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+n.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

const aPatient = `{"name":"Arlo Finch","date_of_birth":"1961-03-14","gender":"female"}`

// addPatient makes one more patient.
func (n *node) addPatient() {
	n.t.Helper()
	if n.token == "" {
		n.signIn()
	}
	if status := n.ask("POST", "/v1/patients", aPatient); status != http.StatusCreated {
		n.t.Fatalf("making a patient: %d", status)
	}
}

// exec runs a statement past the server.
func (n *node) exec(sql string, args ...any) {
	n.t.Helper()
	path, ok := strings.CutPrefix(n.database, "sqlite:")
	if !ok {
		conn := n.postgres()
		if _, err := conn.Exec(n.t.Context(), sql, args...); err != nil {
			n.t.Fatal(err)
		}
		return
	}
	conn, err := sqlite3.Open(path)
	if err != nil {
		n.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.BusyTimeout(time.Minute); err != nil {
		n.t.Fatal(err)
	}
	if err := conn.Exec(sql); err != nil {
		n.t.Fatalf("%s: %v", sql, err)
	}
}

// postgres is a connection past the server, until the test ends.
func (n *node) postgres() *pgx.Conn {
	n.t.Helper()
	conn, err := pgx.Connect(n.t.Context(), n.database)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// scrape is what a server exports: series and their values.
type scrape map[string]float64

// look scrapes the node as Prometheus does, which adds whether it could.
func (n *node) look() (scrape, time.Time) {
	at := time.Now()
	answer, err := http.Get(n.metricsURL)
	if err != nil {
		return scrape{`up{job="anodyne"}`: 0}, at
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		n.t.Errorf("scraping: %s, %v", answer.Status, err)
	}
	found := scrape{`up{job="anodyne"}`: 1}
	maps.Copy(found, parseMetrics(string(body)))
	return found, at
}

// parseMetrics reads the text format. The job is what Prometheus adds.
func parseMetrics(text string) scrape {
	found := scrape{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			continue
		}
		name, labels, _ := strings.Cut(line[:end], "{")
		labels = strings.TrimSuffix(labels, "}")
		if labels != "" {
			labels += ","
		}
		found[name+"{"+labels+`job="anodyne"}`] = value
	}
	return found
}

// serveUntilClosed serves until standard input ends, and prints where.
func serveUntilClosed(database string) {
	s, err := startServer(database, "--max-connections", "90")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.URL(), s.AdminURL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Stop()
}

// newProcess starts a server in a process of its own that may open so many
// files. It ends with the function that is returned.
func newProcess(t *testing.T, database string, files int) (n *node, end func()) {
	t.Helper()
	child := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec \"$0\"", files), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+database)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	public, admin, ok := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || !ok {
		t.Fatalf("the server did not start: %q, %v", line, err)
	}
	return &node{t: t, url: public, metricsURL: admin + "/metrics"}, func() {
		_ = stdin.Close()
		_ = child.Wait()
	}
}
