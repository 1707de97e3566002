// Package id creates and parses the identifiers of the service: a prefix for
// the kind and 26 lower-case ULID characters, which sort by creation time.
//
// Each kind is a distinct Go type, so that a patient's identifier cannot be
// passed where a client's is required. In the database an identifier is stored
// as 16 bytes.
package id

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Kind is the kind of an identifier, which determines its prefix.
type Kind interface{ prefix() string }

// The kinds of identifiers.
type (
	PatientKind struct{}
	ClientKind  struct{}
	OrgKind     struct{}
	EventKind   struct{}
	RequestKind struct{}
	RecordKind  struct{}
	WebhookKind struct{}
	// DeliveryKind is the delivery of one event to one webhook, with all its
	// attempts.
	DeliveryKind struct{}
	ReportKind   struct{}
	UserKind     struct{}
	AliasKind    struct{} // of a medicine
	ExportKind   struct{}
	CohortKind   struct{}
)

func (PatientKind) prefix() string  { return "pat_" }
func (ClientKind) prefix() string   { return "cli_" }
func (OrgKind) prefix() string      { return "org_" }
func (EventKind) prefix() string    { return "evt_" }
func (RequestKind) prefix() string  { return "req_" }
func (RecordKind) prefix() string   { return "rec_" }
func (WebhookKind) prefix() string  { return "whk_" }
func (DeliveryKind) prefix() string { return "dlv_" }
func (ReportKind) prefix() string   { return "rep_" }
func (UserKind) prefix() string     { return "usr_" }
func (AliasKind) prefix() string    { return "als_" }
func (ExportKind) prefix() string   { return "exp_" }
func (CohortKind) prefix() string   { return "coh_" }

// The identifier types.
type (
	Patient  = ID[PatientKind]
	Client   = ID[ClientKind]
	Org      = ID[OrgKind]
	Event    = ID[EventKind]
	Request  = ID[RequestKind]
	Record   = ID[RecordKind]
	Webhook  = ID[WebhookKind]
	Delivery = ID[DeliveryKind]
	Report   = ID[ReportKind]
	User     = ID[UserKind]
	Alias    = ID[AliasKind]
	Export   = ID[ExportKind]
	Cohort   = ID[CohortKind]
)

// ID is an identifier of kind K.
type ID[K Kind] struct{ ulid ulid.ULID }

// source has the randomness of recent milliseconds: each identifier continues that
// of the one before in its millisecond, while requests that began at other times
// create theirs.
var source = struct {
	sync.Mutex
	recent [1024]*ulid.MonotonicEntropy // by millisecond
	next   ulid.ULID                    // generated here, and copied
}{}

func init() {
	random := bufio.NewReader(rand.Reader)
	for i := range source.recent {
		source.recent[i] = ulid.Monotonic(random, 0)
	}
}

// New returns a new identifier for a time. Identifiers created by one process
// in the same millisecond sort in creation order, even if others are created for
// times up to a second earlier or later.
func New[K Kind](at time.Time) ID[K] {
	ms := ulid.Timestamp(at)
	source.Lock()
	defer source.Unlock()
	if err := source.next.SetTime(ms); err != nil {
		panic(err) // year 10889 or later
	}
	if err := source.recent[ms%uint64(len(source.recent))].MonotonicRead(ms, source.next[6:]); err != nil {
		panic(err) // more than 2^80 in one millisecond
	}
	return ID[K]{source.next}
}

// ErrMalformed is returned for a text that is not an identifier of the kind.
var ErrMalformed = errors.New("malformed identifier")

// Parse parses an identifier in exactly the form returned by String.
func Parse[K Kind](s string) (ID[K], error) {
	var k K
	p := k.prefix()
	if len(s) != len(p)+ulid.EncodedSize || s[:len(p)] != p {
		return ID[K]{}, ErrMalformed
	}
	var parsed ID[K]
	if err := parsed.ulid.UnmarshalText([]byte(s[len(p):])); err != nil || parsed.String() != s {
		return ID[K]{}, ErrMalformed
	}
	return parsed, nil
}

// Time returns the time of an identifier, to the millisecond.
func (i ID[K]) Time() time.Time { return i.ulid.Timestamp() }

// FromBytes returns an identifier from the 16 bytes returned by Bytes.
func FromBytes[K Kind](b []byte) (ID[K], error) {
	var i ID[K]
	if len(b) != len(i.ulid) {
		return i, ErrMalformed
	}
	copy(i.ulid[:], b)
	return i, nil
}

// Bytes returns the form stored in the database.
func (i ID[K]) Bytes() []byte { return i.ulid[:] }

// IsZero reports whether the identifier is not set.
func (i ID[K]) IsZero() bool { return i.ulid == ulid.ULID{} }

// alphabet is Crockford's base 32 in lower case.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// Append appends the text form to b: 128 bits in 26 digits of 5 bits, the
// first of which has only 3.
func (i ID[K]) Append(b []byte) []byte {
	var k K
	b = append(b, k.prefix()...)
	hi, lo := binary.BigEndian.Uint64(i.ulid[:8]), binary.BigEndian.Uint64(i.ulid[8:])
	var text [ulid.EncodedSize]byte
	for at := len(text) - 1; at >= 0; at-- {
		text[at] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return append(b, text[:]...)
}

// String returns the text form.
func (i ID[K]) String() string { return string(i.Append(make([]byte, 0, 30))) }

// MarshalText returns the text form, for JSON.
func (i ID[K]) MarshalText() ([]byte, error) { return i.Append(nil), nil }

// UnmarshalText is the inverse of MarshalText.
func (i *ID[K]) UnmarshalText(text []byte) (err error) {
	*i, err = Parse[K](string(text))
	return err
}
