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

// Witnessed is how far one organisation's log was seen to be sealed.
type Witnessed struct {
	Org id.Org `json:"organization"`
	// No is the organisation's number in the database.
	No   int64  `json:"number"`
	Name string `json:"name"`
	// Pos is the last sealed position, 0 for none.
	Pos  int64 `json:"position"`
	Head Head  `json:"head"`
	// Broken says why the log is no longer sealed, or is empty.
	Broken string `json:"broken,omitempty"`
}

// Witness is what a node keeps outside the database of the seals in it.
type Witness struct {
	// AcceptedAt is the newest acceptance that has been applied.
	AcceptedAt int64       `json:"accepted_at"`
	Logs       []Witnessed `json:"logs"`
}

// Acceptance is an operator's word that logs are right as they stand,
// although witnesses remember them otherwise. Nodes apply each acceptance
// once, in the order of At.
type Acceptance struct {
	At     int64  `json:"accepted_at"` // Unix milliseconds
	Reason string `json:"reason"`
	// Whole is the acceptance of a whole database: an organisation that is not
	// in Logs is rightly gone.
	Whole bool `json:"whole"`
	// Logs are the accepted logs; a position of 0 means that nothing is sealed.
	Logs []Witnessed `json:"logs"`
}

// The kinds of signed documents. Each is authenticated under its own kind, so
// that one cannot be passed off as another.
const (
	witnessKind    = "anodyne seal witness"
	acceptanceKind = "anodyne seal acceptance"
)

// ErrForged is a document that was not written with the audit key.
var ErrForged = errors.New("it is damaged, or was not written with this audit key")

// Sign writes the witness so that nobody can change it without the key.
func (w Witness) Sign(key []byte) []byte { return sign(key, witnessKind, w) }

// OpenWitness reads what Witness.Sign wrote.
func OpenWitness(key, document []byte) (w Witness, err error) {
	return w, open(key, witnessKind, document, &w)
}

// Sign writes the acceptance so that nobody can change it without the key.
func (a Acceptance) Sign(key []byte) []byte { return sign(key, acceptanceKind, a) }

// OpenAcceptance reads what Acceptance.Sign wrote.
func OpenAcceptance(key, document []byte) (a Acceptance, err error) {
	return a, open(key, acceptanceKind, document, &a)
}

// sign gives a line of JSON and a line with its authentication code.
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

// MarshalText writes a head in hexadecimal.
func (h Head) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads one.
func (h *Head) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) || len(text)%2 != 0 {
		return fmt.Errorf("a head has %d hexadecimal digits, not %d", 2*len(h), len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
