package engine

import "bytes"

// Adiantum's vector code leaves the upper halves of the wide registers dirty.
// Until they are cleared, SSE code such as SHA-256 runs five times slower on
// the same thread: a backup of an encrypted file took 8 s instead of 2.
// Comparing more than 64 bytes clears them where needed.
var left, right [128]byte

func clearWideRegisters() {
	if !bytes.Equal(left[:], right[:]) {
		panic("two arrays of zeros differ")
	}
}
