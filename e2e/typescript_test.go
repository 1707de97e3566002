package e2e

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/e2e/browser"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testnode"
)

const sdkSource = "../sdk/typescript"

// TestTypeScriptClient packs the TypeScript client, installs the package in an
// empty folder, and compiles the programs in testdata/typescript and the
// examples of the documentation with it. Then it runs these against a service.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "installing and compiling an npm package")
	p := testnode.Empty(t)
	p.Run(absolute(t, "../scripts/sdk"), "pack", p.Dir)
	tarballs, err := filepath.Glob(filepath.Join(p.Dir, "*.tgz"))
	if err != nil || len(tarballs) != 1 {
		t.Fatal(tarballs, err)
	}
	checkPackage(t, tarballs[0])
	installSDK(t, p, tarballs[0])
	if err := os.CopyFS(p.Dir, os.DirFS("testdata/typescript")); err != nil {
		t.Fatal(err)
	}
	p.Write("readme.ts", example(t, sdkSource+"/README.md"))
	p.Write("guide.ts", example(t, "../docs/guides/typescript.md"))
	p.Package("typescript/bin/tsc", "--project", ".")

	for program, tier := range map[string]string{
		"tour": "enterprise", "webhook": "enterprise", "readme": "standard", "guide": "standard", "allowance": "standard",
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			s := newService(t, storetest.SQLite)
			runProgram(t, p, program, s.node(0, "--dev").url, s.register(tier), "PRIVATE_KEY_PEM="+privatePEM(t))
		})
	}
	t.Run("keys", func(t *testing.T) {
		t.Parallel()
		s := newService(t, storetest.SQLite)
		app, pairs := s.register("standard"), keyPairs(t)
		s.registerKeys(t, app, pairs)
		runProgram(t, p, "keys", s.node(0).url, application{ID: app.ID}, "PRIVATE_KEYS="+keySet(t, pairs, true))
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		s := newService(t, storetest.SQLite)
		runProgram(t, p, "faults", newFaultProxy(t, s.node(0).url).url, s.register("enterprise"))
	})
	t.Run("expiry", func(t *testing.T) {
		t.Parallel()
		s := newService(t, storetest.SQLite)
		n := s.node(0)
		proxy, now := newFaultProxy(t, n.url), n.clock()
		proxy.control.HandleFunc("GET /-/clock", func(http.ResponseWriter, *http.Request) { now.pass(3 * time.Hour) })
		runProgram(t, p, "expiry", proxy.url, s.register("enterprise"))
	})
	t.Run("browser", func(t *testing.T) {
		t.Parallel()
		inBrowser(t, filepath.Join(p.Dir, "node_modules", "@anodyne", "client", "dist"))
	})
}

// runProgram runs a compiled program, which says at the end that it came there.
func runProgram(t *testing.T, p *testnode.Project, program, url string, app application, env ...string) {
	t.Helper()
	cmd := p.Command("node", filepath.Join("built", program+".js"))
	cmd.Env = append(slices.Clone(cmd.Env), "ANODYNE_URL="+url, "CLIENT_ID="+app.ID, "CLIENT_SECRET="+app.Secret)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "done\n") {
		t.Errorf("%s: %v\n%s", program, err, out)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// example joins the TypeScript blocks of a document to one program.
func example(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```ts\n(.*?)^```$").FindAllSubmatch(text, -1) {
		program.Write(block[1])
	}
	const address = "'http://127.0.0.1:8080'"
	if !strings.Contains(program.String(), address) {
		t.Errorf("%s has no example that calls %s", path, address)
	}
	return strings.ReplaceAll(program.String(), address, "process.env.ANODYNE_URL!") + "console.log('done');\n"
}

// checkPackage looks at the files of an npm package: for each module its
// JavaScript and its types, without a trace of the machine that made them.
func checkPackage(t *testing.T, tarball string) {
	t.Helper()
	want := []string{"LICENSE", "NOTICE", "README.md", "package.json"}
	sources, err := filepath.Glob(sdkSource + "/src/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		module := "dist/" + strings.TrimSuffix(filepath.Base(source), ".ts")
		want = append(want, module+".js", module+".d.ts")
	}
	traces := []string{absolute(t, ".."), os.TempDir() + "/", "sourceMappingURL"}

	var got []string
	file, err := os.Open(tarball)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimPrefix(entry.Name, "package/"))
		for _, trace := range traces {
			if strings.Contains(string(text), trace) {
				t.Errorf("%s contains %s", entry.Name, trace)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the package has %q, want %q", got, want)
	}
}

// installSDK installs the package with npm, but without a network: its
// dependencies come from the packages of scripts/npm.
func installSDK(t *testing.T, p *testnode.Project, tarball string) {
	t.Helper()
	installed := map[string]string{"@anodyne/client": "file:" + tarball}
	modules := testnode.Modules(t)
	var add func(folder string)
	add = func(folder string) {
		text, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Dependencies map[string]string }
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatal(err)
		}
		for name := range manifest.Dependencies {
			if installed[name] == "" {
				from := filepath.Join(modules, name)
				packed := strings.TrimSpace(p.Run("npm", "pack", from, "--ignore-scripts", "--loglevel=error"))
				installed[name] = "file:" + filepath.Join(p.Dir, packed)
				add(from)
			}
		}
	}
	add(sdkSource)
	manifest, err := json.Marshal(map[string]any{"private": true, "type": "module", "dependencies": installed})
	if err != nil {
		t.Fatal(err)
	}
	p.Write("package.json", string(manifest))
	p.Run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--cache", t.TempDir())
}

// inBrowser loads the modules as they are installed into a page of another
// origin, and calls the service from there.
func inBrowser(t *testing.T, modules string) {
	needsBrowser(t)
	mux := http.NewServeMux()
	mux.Handle("GET /client/", http.StripPrefix("/client/", http.FileServer(http.Dir(modules))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>An application</title>")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--cors-origin", site.URL)
	token, err := n.as(s.register("enterprise")).Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/typescript/browser.js")
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, site.URL)
	v.hosts = append(v.hosts, n.url)
	v.must(v.Go(site.URL))
	got, err := browser.Evaluate[string](v.Browser, fmt.Sprintf("(%s)(%q, %q)", script, n.url, token.AccessToken))
	v.must(err)
	if want := "Ada; 404 NOT_FOUND with a request id; allowance known; 6 bytes and the rest; no secret here"; got != want {
		t.Errorf("the browser says %q, want %q", got, want)
	}
}
