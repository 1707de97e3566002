package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"anodyne.example/anodyne/internal/id"
)

// Witnessed is how far one organisation's log was observed to be sealed.
type Witnessed struct {
	Org id.Org `json:"organization"`
	// No is the number of the organisation in the database.
	No   int64  `json:"number"`
	Name string `json:"name"`
	// Pos is the last sealed position, or 0.
	Pos  int64 `json:"position"`
	Head Head  `json:"head"`
	// Broken is why the log is no longer sealed, or empty.
	Broken string `json:"broken,omitempty"`
}

// Witness is a node's record, outside the database, of the seals in it.
type Witness struct {
	// AcceptedAt is the time of the last acceptance applied.
	AcceptedAt int64       `json:"accepted_at"`
	Logs       []Witnessed `json:"logs"`
}

// Acceptance is an operator's confirmation that logs are correct although
// witnesses recorded something else. Nodes apply each acceptance once, in the
// order of At.
type Acceptance struct {
	At     int64  `json:"accepted_at"` // Unix milliseconds
	Reason string `json:"reason"`
	// Whole accepts a whole database: an organisation that is not in Logs was
	// removed intentionally.
	Whole bool `json:"whole"`
	// Planned is set if the log may not have that seal yet, or never get it.
	Planned bool `json:"planned,omitempty"`
	// Logs are the accepted logs; position 0 means that nothing is sealed.
	Logs []Witnessed `json:"logs"`
	// Before is the seal that the log had before an erasure changed it.
	Before *Witnessed `json:"before,omitempty"`
}

// Continues reports whether an erasure found at least what a record says was
// sealed. If not, the log had been altered before, which an erasure must not
// hide. An operator may accept anything.
func (a *Acceptance) Continues(seen Witnessed) bool {
	return a.Before == nil || seen.Pos < a.Before.Pos || seen.Pos == a.Before.Pos && seen.Head == a.Before.Head
}

// The kinds of signed documents. The kind is authenticated, so that one cannot
// be passed off as another.
const (
	witnessKind    = "anodyne seal witness"
	acceptanceKind = "anodyne seal acceptance"
)

// ErrForged is returned for a document that was not signed with the audit key.
var ErrForged = errors.New("it is damaged, or was not written with this audit key")

// Sign returns the witness with a signature, so that it cannot be changed
// without the key.
func (w Witness) Sign(key []byte) []byte { return sign(key, witnessKind, w) }

// OpenWitness verifies and parses the result of [Witness.Sign].
func OpenWitness(key, document []byte) (w Witness, err error) {
	return w, open(key, witnessKind, document, &w)
}

// Sign returns the acceptance with a signature, so that it cannot be changed
// without the key.
func (a Acceptance) Sign(key []byte) []byte { return sign(key, acceptanceKind, a) }

// OpenAcceptance verifies and parses the result of [Acceptance.Sign].
func OpenAcceptance(key, document []byte) (a Acceptance, err error) {
	return a, open(key, acceptanceKind, document, &a)
}

// sign returns a line of JSON and a line with its authentication code.
func sign(key []byte, kind string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return fmt.Appendf(nil, "%s\n%x\n", text, documentCode(key, kind, text))
}

func open(key []byte, kind string, document []byte, v any) error {
	text, code, ok := bytes.Cut(document, []byte{'\n'})
	got, err := hex.DecodeString(string(bytes.TrimSuffix(code, []byte{'\n'})))
	if !ok || err != nil || !hmac.Equal(got, documentCode(key, kind, text)) {
		return ErrForged
	}
	return json.Unmarshal(text, v)
}

func documentCode(key []byte, kind string, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(kind))
	mac.Write([]byte{'\n'})
	mac.Write(text)
	return mac.Sum(nil)
}

// MarshalText encodes the head in hexadecimal.
func (h Head) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText decodes a head in hexadecimal.
func (h *Head) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) || len(text)%2 != 0 {
		return fmt.Errorf("a head has %d hexadecimal digits, not %d", 2*len(h), len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
