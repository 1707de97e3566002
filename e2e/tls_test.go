package e2e

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testcert"
)

// TestTLS serves with a certificate and refuses what is out of date.
func TestTLS(t *testing.T) {
	certFile, keyFile, roots := testcert.Loopback(t)
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--tls-cert", certFile, "--tls-key", keyFile)
	if !strings.HasPrefix(n.url, "https://") {
		t.Fatalf("the server says that it is at %s", n.url)
	}
	n.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	if _, err := n.as(s.register("standard")).Patients(t.Context(), client.PatientQuery{}); err != nil {
		t.Errorf("over TLS: %v", err)
	}

	address := strings.TrimPrefix(n.url, "https://")
	for version, good := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version})
		if err == nil {
			conn.Close()
		}
		if (err == nil) != good {
			t.Errorf("%s: %v, want success %v", tls.VersionName(version), err, good)
		}
	}
}

// TestTLSFaults names what is wrong with a certificate.
func TestTLSFaults(t *testing.T) {
	certFile, _, _ := testcert.Loopback(t)
	s := newService(t, storetest.SQLite)
	refusedStart(t, nil, "TLS certificate: ", "--database", s.database, "--tls-cert", certFile, "--tls-key", filepath.Join(s.dir, "missing.pem"))
	refusedStart(t, nil, "--tls-cert and --tls-key", "--database", s.database, "--tls-cert", certFile)
}
