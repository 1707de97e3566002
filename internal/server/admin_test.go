package server

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// With a token file the admin listener answers only who sends the token, on
// every path, and takes a new token without a restart.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	put := func(token string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "the first token, long enough", "the second token, long enough"
	put(first + "\n")
	s := serve(t, "--admin-listen", "0.0.0.0:0", "--admin-token-file", file)
	expect := func(header string, want int) {
		t.Helper()
		for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/nowhere"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AdminURL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				request.Header.Set("Authorization", header)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if path == "/nowhere" && want == http.StatusOK {
				continue
			}
			if answer.StatusCode != want {
				t.Errorf("%s with %q: %d, want %d", path, header, answer.StatusCode, want)
			}
			if want == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: a 401 without a challenge", path)
			}
		}
	}
	expect("", http.StatusUnauthorized)
	expect("Bearer ", http.StatusUnauthorized)
	expect("Bearer "+first[:10], http.StatusUnauthorized)
	expect("Basic "+first, http.StatusUnauthorized)
	expect("Bearer "+second, http.StatusUnauthorized)
	expect("Bearer "+first, http.StatusOK)
	put(second)
	expect("Bearer "+first, http.StatusUnauthorized)
	expect("Bearer "+second, http.StatusOK)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect("Bearer "+second, http.StatusInternalServerError)
	expect("Bearer ", http.StatusInternalServerError)
}
