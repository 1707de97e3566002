// Package peer lets the nodes of one database ask each other questions. It owns
// the connection between them: who may talk, how a silent node is recognised,
// and how many questions wait. What is asked and answered is up to the callers.
//
// Nodes of a database have the same master key and derive the same key pair from
// it. Every connection uses TLS 1.3 with that key pair on both sides, so a node
// only talks to processes that have the master key, whatever the network.
package peer

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"time"

	"anodyne.example/anodyne/internal/seal"
)

// Identity proves that a process is a node of the database.
type Identity struct{ certificate tls.Certificate }

// NewIdentity derives the identity from a secret that only nodes of the database
// have.
func NewIdentity(secret []byte) (*Identity, error) {
	key := ed25519.NewKeyFromSeed(seal.Derive(secret, "anodyne nodes"))
	// Only the key is checked, so what else the certificate says has no effect.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "anodyne node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Identity{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
}

var errStranger = errors.New("the other side is not a node of this database")

// config returns the configuration of both sides.
func (i *Identity) config() *tls.Config {
	own := i.certificate.PrivateKey.(ed25519.PrivateKey).Public().(ed25519.PublicKey)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.certificate}, NextProtos: []string{"http/1.1"},
		// There is no authority: the other side proves that it has the same key.
		InsecureSkipVerify: true, ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) > 0 && own.Equal(state.PeerCertificates[0].PublicKey) {
				return nil
			}
			return errStranger
		},
	}
}

// The bytes of a response: signs of life, and then one of the others, followed
// by the answer.
const (
	working  = 'w'
	answered = 'a'
	failed   = 'f'
)

const (
	path       = "/ask"
	nodeHeader = "Anodyne-Node"
	// lifeEvery is how often a node that is still working says so.
	lifeEvery = time.Second
	// Silence is how long a node may say nothing before it is given up, and how
	// long it may take for the next part of an answer.
	Silence = 5 * time.Second
	// connectTime limits connecting to another node, on both sides.
	connectTime = 2 * time.Second
	// largestQuestion and largestAnswer are in bytes.
	largestQuestion = 1 << 20
	largestAnswer   = 1 << 30
	// partSize is how much of an answer must be taken within Silence.
	partSize = 64 << 10
	// mostQuestions is how many questions of other nodes may be under way.
	mostQuestions = 256
)

var (
	// ErrBusy is returned if another node has too many questions to answer.
	ErrBusy = errors.New("the other node has too many questions to answer")
	// ErrFailed is returned if another node could not answer a question; its log
	// has the reason.
	ErrFailed = errors.New("the other node could not answer the question")
	errSilent = errors.New("the other node has said nothing for a while")
)
