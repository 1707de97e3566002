// Package config defines all settings: one struct with defaults, read from
// flags and the environment. Each flag --some-name can also be set as
// ANODYNE_SOME_NAME; the flag takes precedence.
package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// Config holds the settings.
type Config struct {
	Database        string
	DatabaseKey     Secret
	DatabaseKeyFile string
	DatabaseWait    time.Duration
	DataDir         string
	Listen          string
	AdminListen     string
	AdminTokenFile  string
	NodeListen      string
	NodeAddress     string
	BaseURL         string
	FHIRBase        string
	TLSCert         string
	TLSKey          string
	CORSOrigins     List
	TrustedProxies  List
	Dev             bool
	LogLevel        string
	LogFormat       string
	RequestLog      bool
	OTLPEndpoint    string
	ShutdownTimeout time.Duration
	ShutdownDelay   time.Duration
	CohortMemory    Size
	MaxConnections  int
	WebhookAllow    List
	WebhookCAFile   string
	// LogOutput receives the request log; nil disables it.
	LogOutput io.Writer
	// Version is the version of the program, which is sent to webhook
	// receivers.
	Version         string
	ReportRetention time.Duration
	SessionIdle     time.Duration
	SessionLifetime time.Duration
}

// List is a flag with comma-separated values.
type List []string

// String returns the values separated by commas.
func (l *List) String() string { return strings.Join(*l, ",") }

// Set replaces the values.
func (l *List) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// Store registers the flags common to all commands.
func (c *Config) Store(fs *flag.FlagSet) {
	fs.StringVar(&c.Database, "database", "sqlite:anodyne.db", "`address` of the database: sqlite:PATH or postgres://...")
	fs.StringVar(&c.DatabaseKeyFile, "database-key-file", "", "`file` with the key that encrypts the SQLite file and backups")
	fs.Var(&c.DatabaseKey, "database-key", "the `key` itself; set it as ANODYNE_DATABASE_KEY, because other users can see command lines")
	fs.DurationVar(&c.DatabaseWait, "database-wait", time.Minute, "how long to wait for PostgreSQL at startup if it cannot be reached; 0 fails immediately")
	fs.StringVar(&c.DataDir, "data-dir", "", "`directory` of the audit key, the master key, the audit spool and the record of seals (default: beside the SQLite file, or anodyne.d)")
}

// Address registers the flags for a server's addresses.
func (c *Config) Address(fs *flag.FlagSet) {
	fs.StringVar(&c.Listen, "listen", "127.0.0.1:8080", "`address` to serve on")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "certificate `file` (PEM); serves HTTPS together with --tls-key")
}

// Serve registers the flags of a server.
func (c *Config) Serve(fs *flag.FlagSet) {
	c.Store(fs)
	c.Links(fs)
	c.FHIR(fs)
	c.adminFlags(fs)
	c.nodeFlags(fs)
	fs.StringVar(&c.TLSKey, "tls-key", "", "private key `file` (PEM)")
	fs.Var(&c.CORSOrigins, "cors-origin", "`origins` allowed to call the API from a browser, separated by commas")
	fs.Var(&c.TrustedProxies, "trusted-proxy", "`networks` (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, separated by commas")
	fs.BoolVar(&c.Dev, "dev", false, "development mode: allows the portal without TLS, and webhooks to this machine over HTTP")
	fs.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	fs.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	fs.DurationVar(&c.ShutdownTimeout, "shutdown-timeout", 20*time.Second, "how long running requests may take to finish at shutdown")
	fs.DurationVar(&c.ShutdownDelay, "shutdown-delay", 0, "how long /readyz returns 503 at shutdown before connections are refused, for load balancers")
	fs.DurationVar(&c.ReportRetention, "report-retention", 30*24*time.Hour, "how long the files of reports and exports are kept")
	fs.DurationVar(&c.SessionIdle, "session-idle", 30*time.Minute, "how long a portal session lasts without activity")
	fs.DurationVar(&c.SessionLifetime, "session-lifetime", 12*time.Hour, "how long a portal session lasts in total")
	c.CohortMemory = 1 << 30
	fs.Var(&c.CohortMemory, "cohort-memory", "`size` of the memory for the cache of search and analytics, names and series together, such as 256MiB")
	fs.IntVar(&c.MaxConnections, "max-connections", 0, "maximum number of open `connections` (default: half of the open file limit, at most 10000)")
	c.webhookFlags(fs)
}

// Links registers the flags for the public address.
func (c *Config) Links(fs *flag.FlagSet) {
	c.Address(fs)
	fs.StringVar(&c.BaseURL, "base-url", "", "public `URL` of the service, for links (default: the listen address)")
}

// PublicURL returns the base URL of links: the configured public URL, or the
// address on which a server with these flags listens.
func (c *Config) PublicURL() (string, error) {
	if problem := c.baseURLProblem(); problem != "" {
		return "", fmt.Errorf("--base-url: %s", problem)
	}
	switch {
	case c.BaseURL != "":
		return c.BaseURL, nil
	case c.TLSCert != "":
		return "https://" + c.Listen, nil
	}
	return "http://" + c.Listen, nil
}

func (c *Config) baseURLProblem() string {
	if c.BaseURL == "" {
		return ""
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.HasSuffix(c.BaseURL, "/") {
		return fmt.Sprintf("want a URL such as https://api.example.org, without a slash at the end, not %q", c.BaseURL)
	}
	return ""
}

// FromEnvironment sets every registered flag that is not on the command line
// from its environment variable.
func FromEnvironment(fs *flag.FlagSet, lookup func(string) (string, bool)) error {
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	var errs []error
	fs.VisitAll(func(f *flag.Flag) {
		name := Variable(f.Name)
		if value, given := lookup(name); given && !set[f.Name] {
			if err := fs.Set(f.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// Variable returns the name of a flag's environment variable.
func Variable(flag string) string {
	return "ANODYNE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Finish sets the values that depend on others.
func (c *Config) Finish() {
	if c.DataDir == "" {
		c.DataDir = store.DefaultDataDir(c.Database)
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = min(OpenFiles()/2, mostConnections)
	}
}

// leastSession is twice the precision with which the store records the last
// use of a session: a shorter session could end between two clicks.
const leastSession = 2 * time.Minute

// Validate returns all errors at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: "+format, append([]any{flag}, args...)...))
	}
	if !strings.HasPrefix(c.Database, "sqlite:") && !engine.IsPostgres(c.Database) {
		bad("database", "want sqlite:PATH or postgres://..., not %q", HidePassword(c.Database))
	}
	if _, err := c.Key(); err != nil {
		errs = append(errs, err)
	}
	if c.DatabaseWait < 0 {
		bad("database-wait", "must not be negative")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		bad("listen", "want HOST:PORT, not %q", c.Listen)
	}
	c.validateAdmin(bad)
	c.validateNodes(bad)
	if (c.TLSCert == "") != (c.TLSKey == "") {
		bad("tls-cert", "give --tls-cert and --tls-key, or neither")
	}
	if problem := c.baseURLProblem(); problem != "" {
		bad("base-url", "%s", problem)
	}
	if problem := c.fhirBaseProblem(); problem != "" {
		bad("fhir-base", "%s", problem)
	}
	for _, origin := range c.CORSOrigins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme == "" || u.Path != "" {
			bad("cors-origin", "want origins such as https://app.example.org, not %q", origin)
		}
	}
	if _, err := c.Proxies(); err != nil {
		bad("trusted-proxy", "%v", err)
	}
	if _, err := c.Level(); err != nil {
		bad("log-level", "want debug, info, warn or error, not %q", c.LogLevel)
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		bad("log-format", "want text or json, not %q", c.LogFormat)
	}
	if c.ShutdownTimeout <= 0 {
		bad("shutdown-timeout", "must be more than zero")
	}
	if c.ShutdownDelay < 0 {
		bad("shutdown-delay", "must not be negative")
	}
	if c.ReportRetention <= 0 {
		bad("report-retention", "must be more than zero")
	}
	if c.SessionIdle < leastSession {
		bad("session-idle", "must be at least %v", leastSession)
	}
	if c.SessionLifetime < c.SessionIdle {
		bad("session-lifetime", "must not be less than --session-idle")
	}
	if c.CohortMemory < 1<<20 {
		bad("cohort-memory", "must be at least 1MiB")
	}
	if files := OpenFiles(); c.MaxConnections < 1 || c.MaxConnections >= files {
		bad("max-connections", "must be at least 1 and below the open file limit of %d", files)
	}
	c.validateWebhooks(bad)
	return errors.Join(errs...)
}

// Proxies returns the networks of --trusted-proxy.
func (c *Config) Proxies() ([]netip.Prefix, error) {
	return networks(c.TrustedProxies)
}

// Level returns the level of --log-level.
func (c *Config) Level() (level slog.Level, err error) {
	err = level.UnmarshalText([]byte(c.LogLevel))
	return level, err
}

// Logger returns a logger for --log-level and --log-format.
func (c *Config) Logger(w io.Writer) *slog.Logger { return slog.New(c.LogHandler(w)) }

// LogHandler returns a handler for --log-level and --log-format.
func (c *Config) LogHandler(w io.Writer) slog.Handler {
	level, err := c.Level()
	if err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}

// Print writes the configuration in force, without secrets.
func Print(w io.Writer, fs *flag.FlagSet) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fs.VisitAll(func(f *flag.Flag) {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Name, HidePassword(f.Value.String()), Variable(f.Name))
	})
	return table.Flush()
}

// HidePassword removes the password from a URL that is printed, even if it is
// invalid, because then it is printed in the error.
func HidePassword(address string) string {
	if strings.HasPrefix(address, "sqlite:") || !strings.Contains(address, "@") && !strings.Contains(address, "password") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		scheme, _, _ := strings.Cut(address, ":")
		if strings.ContainsAny(scheme, "@= ") {
			return "(hidden)"
		}
		return scheme + ":(hidden)"
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(name, "password") {
			q.Set(name, "xxxxx")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
