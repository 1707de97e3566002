package cohort

import (
	"encoding/binary"

	"anodyne.example/anodyne/internal/id"
)

// key is an identifier as a number, in the same order.
type key struct{ hi, lo uint64 }

func keyOf(patient id.Patient) key {
	b := patient.Bytes()
	return key{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// less reports whether k sorts before other.
func (k key) less(other key) bool {
	return k.hi < other.hi || k.hi == other.hi && k.lo < other.lo
}

// keySpan is the lowest and highest of some keys, and their number. Zero keys
// do not count.
type keySpan struct {
	low, high key
	count     int64
}

func (s *keySpan) add(k key) {
	if k == (key{}) {
		return
	}
	if s.count == 0 || k.less(s.low) {
		s.low = k
	}
	if s.count == 0 || s.high.less(k) {
		s.high = k
	}
	s.count++
}

// identifierPrefix is the prefix of terms that are matched against
// identifiers.
const identifierPrefix = "pat_"

// keyRange returns the range of keys with identifiers that have a prefix, or
// false if there can be none. The range never includes the zero key, which
// belongs to no patient.
func keyRange(prefix string) (low, high key, ok bool) {
	const lowest, highest = identifierPrefix + "00000000000000000000000000", identifierPrefix + "7zzzzzzzzzzzzzzzzzzzzzzzzz"
	if len(prefix) > len(lowest) {
		return low, high, false
	}
	last, tail := highest, highest[len(prefix):]
	if len(prefix) > len(identifierPrefix) {
		last = prefix + tail
	}
	from, err := id.Parse[id.PatientKind](prefix + lowest[len(prefix):])
	if err != nil {
		return low, high, false
	}
	to, err := id.Parse[id.PatientKind](last)
	if err != nil {
		return low, high, false
	}
	if low = keyOf(from); low == (key{}) {
		low.lo = 1
	}
	return low, keyOf(to), true
}
