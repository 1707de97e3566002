package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestTLS serves with a certificate and refuses what is out of date.
func TestTLS(t *testing.T) {
	certFile, keyFile, roots := certificate(t)
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
	certFile, _, _ := certificate(t)
	s := newService(t, storetest.SQLite)
	refusedStart(t, nil, "TLS certificate: ", "--database", s.database, "--tls-cert", certFile, "--tls-key", filepath.Join(s.dir, "missing.pem"))
	refusedStart(t, nil, "--tls-cert and --tls-key", "--database", s.database, "--tls-cert", certFile)
}

// certificate makes a certificate for this machine's own address.
func certificate(t *testing.T) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), roots
}
