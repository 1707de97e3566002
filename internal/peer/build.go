package peer

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"sync"
)

// Build identifies the program that runs. Nodes only ask nodes with the same
// one: even a program of the same version could count differently on another
// processor, or if it was built from changed sources.
var Build = sync.OnceValues(func() (string, error) {
	path := "/proc/self/exe" // also if the file was replaced since
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return "", err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
})
