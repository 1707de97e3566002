package config

import (
	"flag"
	"io"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fhir"
)

// read parses a command line and an environment into a server's configuration.
func read(t *testing.T, args []string, environment map[string]string) (Config, *flag.FlagSet) {
	t.Helper()
	var c Config
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	c.Serve(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	if err := FromEnvironment(fs, lookup); err != nil {
		t.Fatal(err)
	}
	c.Finish()
	return c, fs
}

func TestDefaultsAreValid(t *testing.T) {
	c, _ := read(t, nil, nil)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8080" || c.Database != "sqlite:anodyne.db" || c.DataDir != "anodyne.db.d" {
		t.Errorf("defaults: %+v", c)
	}
}

func TestFlagWinsOverEnvironment(t *testing.T) {
	c, _ := read(t, []string{"--listen", "127.0.0.1:1"}, map[string]string{"ANODYNE_LISTEN": "127.0.0.1:2", "ANODYNE_DATABASE": "sqlite:x.db", "ANODYNE_CORS_ORIGIN": "https://a.example, https://b.example"})
	if c.Listen != "127.0.0.1:1" || c.Database != "sqlite:x.db" || len(c.CORSOrigins) != 2 || c.CORSOrigins[1] != "https://b.example" {
		t.Errorf("got %+v", c)
	}
}

func TestValidateNamesEveryFaultAtOnce(t *testing.T) {
	c, _ := read(t, []string{"--database", "mysql:x", "--listen", "8080", "--admin-listen", "9464", "--tls-cert", "a.pem", "--base-url", "ftp://x/", "--fhir-base", "https://x/fhir/",
		"--cors-origin", "example.org", "--trusted-proxy", "10.0.0.1", "--log-level", "loud", "--log-format", "xml", "--shutdown-timeout", "0s", "--cohort-memory", "1",
		"--session-idle", "1m", "--database-wait", "-1s", "--session-lifetime", "30s",
		"--webhook-allow-cidr", "10.0.0.0/8,::ffff:10.0.0.0/104", "--webhook-ca-file", "missing.pem", "--admin-token-file", "missing.token", "--otlp-endpoint", "collector:4318", "--node-listen", "9465", "--node-address", "here"}, nil)
	err := c.Validate()
	if err == nil {
		t.Fatal("nothing was found wrong")
	}
	for _, name := range []string{"database", "database-wait", "listen", "admin-listen", "tls-cert", "base-url", "fhir-base", "cors-origin", "trusted-proxy", "log-level", "log-format", "shutdown-timeout", "cohort-memory", "session-idle", "session-lifetime", "webhook-allow-cidr", "webhook-ca-file", "admin-token-file", "otlp-endpoint", "node-listen"} {
		if !strings.Contains(err.Error(), "--"+name+":") {
			t.Errorf("--%s is not named in:\n%v", name, err)
		}
	}
}

func TestNodeAddresses(t *testing.T) {
	const postgres, sqlite = "postgres://db/anodyne", "sqlite:x.db"
	for _, test := range []struct {
		database, listen, address string
		ok                        bool
	}{
		{sqlite, "", "", true}, {postgres, "", "", true}, {sqlite, "10.0.0.1:9465", "", false}, {postgres, "", "10.0.0.1:9465", false},
		{postgres, "10.0.0.1:9465", "", true}, {postgres, "node1:9465", "", true}, {postgres, ":9465", "", false}, {postgres, "[::]:9465", "", false},
		{postgres, "0.0.0.0:9465", "node1:9465", true}, {postgres, "0.0.0.0:9465", "node1", false},
	} {
		c, _ := read(t, []string{"--database", test.database, "--node-listen", test.listen, "--node-address", test.address}, nil)
		if err := c.Validate(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A query would be ignored, and printed with the configuration.
func TestOTLPEndpoint(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"": true, "http://127.0.0.1:4318": true, "https://collector.example/v1/traces": true,
		"https://collector.example/?api-key=hunter2": false, "https://u:hunter2@collector.example": false, "ftp://collector.example": false,
	} {
		c, _ := read(t, []string{"--otlp-endpoint", endpoint}, nil)
		err := c.Validate()
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

func TestWebhooks(t *testing.T) {
	c, _ := read(t, []string{"--webhook-allow-cidr", "10.1.2.3/8, fd00::/8", "--dev"}, map[string]string{"ANODYNE_WEBHOOK_CA_FILE": "ca.pem"})
	c.Version = "1.2.3"
	got, err := c.Webhooks()
	if err != nil || got.Version != "1.2.3" || !got.Dev || got.CAFile != "ca.pem" || len(got.Allow) != 2 || got.Allow[0].String() != "10.0.0.0/8" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPathIsNotHidden(t *testing.T) {
	if path := "sqlite:/srv/me@example.org/passwords/anodyne.db"; HidePassword(path) != path {
		t.Errorf("got %s", HidePassword(path))
	}
}

func TestPrintHidesPasswords(t *testing.T) {
	for _, address := range []string{"postgres://user:hunter2@db/anodyne", "postgres://db/anodyne?password=hunter2&user=u", "postgres://us er:hunter2@db:x/"} {
		_, fs := read(t, []string{"--database", address}, nil)
		var out strings.Builder
		if err := Print(&out, fs); err != nil {
			t.Fatal(err)
		}
		if s := out.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, "ANODYNE_DATABASE") {
			t.Errorf("printed configuration:\n%s", s)
		}
	}
}

func TestBadEnvironmentNamesTheVariable(t *testing.T) {
	var c Config
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	c.Serve(fs)
	err := FromEnvironment(fs, func(name string) (string, bool) { return "soon", name == "ANODYNE_SHUTDOWN_TIMEOUT" })
	if err == nil || !strings.Contains(err.Error(), "ANODYNE_SHUTDOWN_TIMEOUT") {
		t.Errorf("error %v, want the variable's name", err)
	}
}

func TestFHIRBase(t *testing.T) {
	for base, valid := range map[string]bool{
		"https://pain.example.org/fhir": true, "http://localhost:8080": true,
		"https://pain.example.org/": false, "https://x?y": false, "https://x#y": false, "https://x?": false, "https://x#": false, "urn:oid:1.2": false,
		"pain.example.org/fhir": false, "/fhir": false, "https:///fhir": false, "https://a:b@x/fhir": false, "https://x/a|b": false, "https://x/a b": false,
	} {
		c, _ := read(t, []string{"--fhir-base", base}, nil)
		m, err := c.Mapping()
		if (err == nil) != valid || (c.Validate() == nil) != valid {
			t.Errorf("%s: %v, %v", base, err, c.Validate())
		}
		if valid && m.PatientSystem() != base+"/patient" {
			t.Errorf("%s: %s", base, m.PatientSystem())
		}
	}
	if c, _ := read(t, nil, nil); c.FHIRBase != fhir.DefaultBase {
		t.Errorf("the default is %q", c.FHIRBase)
	}
}
