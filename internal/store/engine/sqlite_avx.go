package engine

import "bytes"

// Adiantum's vector code leaves the upper halves of the wide registers in use.
// Until something clears them, code for the narrow ones, SHA-256 among it, runs
// five times slower on the same thread: a backup of an encrypted file took 8 s
// instead of 2. Comparing more than 64 bytes clears them where that is needed.
var left, right [128]byte

func clearWideRegisters() {
	if !bytes.Equal(left[:], right[:]) {
		panic("two arrays of zeros differ")
	}
}
