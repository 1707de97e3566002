package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
)

func runHealth(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "health", "health [flags]\n\nChecks whether the server on this machine is alive, for container health checks. Exits with 0 if it is, and with 1\nif not. Give it the same --listen and --tls-cert as the server, or the same environment.")
	cfg.Address(fs)
	ready := fs.Bool("ready", false, "check whether the server can serve requests (/readyz), which needs its database, not only whether it is alive (/healthz)")
	timeout := fs.Duration("timeout", 5*time.Second, "how long to wait for a response")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	if *timeout <= 0 {
		return fmt.Errorf("--timeout: want a duration above zero, such as 5s, not %v", *timeout)
	}
	path := "/healthz"
	if *ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	address, err := healthAddress(&cfg)
	if err != nil {
		return err
	}
	if err := askHealth(ctx, address+path); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Stdout, "ok")
	return err
}

// healthAddress returns the address at which a server with this configuration
// is reached from the same machine.
func healthAddress(cfg *config.Config) (string, error) {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return "", fmt.Errorf("--listen: want HOST:PORT, not %q", cfg.Listen)
	}
	switch ip, _ := netip.ParseAddr(host); { // a host name is kept
	case host == "" || ip.Is4() && ip.IsUnspecified():
		host = "127.0.0.1"
	case ip.IsUnspecified():
		host = "::1"
	}
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

// askHealth sends one request. It does not verify the certificate, which is
// for the public address; the request holds no secrets.
func askHealth(ctx context.Context, url string) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(request) // no proxy, no redirects
	if err != nil {
		return fmt.Errorf("%s does not respond: %w", url, err)
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %s", url, answer.Status)
	}
	return nil
}
