package webhooks

import (
	"encoding/binary"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

// maxAttempts is the number of attempts stored per delivery: those of two full
// schedules.
const maxAttempts = 20

var errAttempts = errors.New("the attempts of a delivery are damaged")

// packAttempts encodes attempts for a row: for each its time, latency and
// status as varints, then its response and error with their lengths.
func packAttempts(attempts []Attempt) []byte {
	attempts = attempts[max(0, len(attempts)-maxAttempts):]
	b := make([]byte, 0, 32*len(attempts))
	for _, a := range attempts {
		b = binary.AppendVarint(b, engine.Millis(a.At))
		b = binary.AppendVarint(b, a.Latency.Milliseconds())
		b = binary.AppendVarint(b, int64(a.Status))
		for _, text := range []string{a.Answer, a.Error} {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

func unpackAttempts(b []byte) (attempts []Attempt, err error) {
	number := func() int64 {
		n, size := binary.Varint(b)
		if size <= 0 {
			err, b = errAttempts, nil
			return 0
		}
		b = b[size:]
		return n
	}
	text := func() string {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			err, b = errAttempts, nil
			return ""
		}
		t := string(b[size : size+int(n)])
		b = b[size+int(n):]
		return t
	}
	for len(b) > 0 {
		attempts = append(attempts, Attempt{
			At: engine.FromMillis(number()), Latency: time.Duration(number()) * time.Millisecond, Status: int(number()), Answer: text(), Error: text(),
		})
	}
	return attempts, err
}
