package backup

import (
	"cmp"
	"io"
)

// blockSize is the number of bytes that are passed to another goroutine at once.
const blockSize = 256 << 10

// behind writes to a writer in another goroutine, so that rows are compressed
// while the next ones are read.
type behind struct {
	block  []byte
	blocks chan []byte
	done   chan error
}

func writeBehind(w io.Writer) *behind {
	b := &behind{block: make([]byte, 0, blockSize), blocks: make(chan []byte, 1), done: make(chan error, 1)}
	go func() {
		for block := range b.blocks {
			if _, err := w.Write(block); err != nil {
				b.done <- err
				return
			}
		}
		b.done <- nil
	}()
	return b
}

// Write returns an error if an earlier write has failed.
func (b *behind) Write(p []byte) (int, error) {
	if b.block = append(b.block, p...); len(b.block) < blockSize {
		return len(p), nil
	}
	return len(p), b.pass()
}

func (b *behind) pass() error {
	block := b.block
	b.block = make([]byte, 0, blockSize)
	select {
	case b.blocks <- block:
		return nil
	case err := <-b.done:
		b.done <- err // for Close
		return err
	}
}

// Close waits until everything is written. It leaves the writer open.
func (b *behind) Close() error {
	err := b.pass()
	close(b.blocks)
	return cmp.Or(err, <-b.done)
}

// ahead reads from a reader in another goroutine, so that the next rows are
// decompressed while others are stored.
type ahead struct {
	rest   []byte
	blocks chan []byte
	stop   chan struct{}
	err    error // why there are no more blocks
}

func readAhead(r io.Reader) *ahead {
	a := &ahead{blocks: make(chan []byte, 1), stop: make(chan struct{})}
	go func() {
		defer close(a.blocks)
		for a.err == nil {
			block, n := make([]byte, blockSize), 0
			for n < len(block) && a.err == nil {
				var more int
				more, a.err = r.Read(block[n:])
				n += more
			}
			select {
			case a.blocks <- block[:n]:
			case <-a.stop:
				return
			}
		}
	}()
	return a
}

// Read implements [io.Reader].
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		block, more := <-a.blocks
		if !more {
			return 0, a.err
		}
		a.rest = block
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close waits until nothing is read any more.
func (a *ahead) Close() {
	close(a.stop)
	for range a.blocks {
	}
}
