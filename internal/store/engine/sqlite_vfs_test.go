package engine

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
	cipher "lukechampine.com/adiantum"
)

// memoryFile is a file in memory that records writes.
type memoryFile struct {
	vfs.File
	content []byte
	written []int64 // offsets of the writes
}

func (m *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.content)) {
		return 0, io.EOF
	}
	n := copy(p, m.content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	m.written = append(m.written, off)
	if need := off + int64(len(p)); need > int64(len(m.content)) {
		m.content = append(m.content, make([]byte, need-int64(len(m.content)))...)
	}
	return copy(m.content[off:], p), nil
}

func newLog() (*logFile, *memoryFile) {
	m := &memoryFile{}
	return &logFile{File: m, cipher: cipher.New(bytes.Repeat([]byte{7}, 32))}, m
}

// frame returns the parts of a frame as SQLite writes them.
func frame(i int) (off int64, header, page []byte) {
	return logHeader + int64(i)*(frameHeader+framePage), bytes.Repeat([]byte{byte(i)}, frameHeader), bytes.Repeat([]byte{byte(i + 100)}, framePage)
}

func writeAt(t *testing.T, f io.WriterAt, p []byte, off int64) {
	t.Helper()
	before := bytes.Clone(p)
	if n, err := f.WriteAt(p, off); n != len(p) || err != nil {
		t.Fatalf("%d of %d bytes, %v", n, len(p), err)
	}
	if !bytes.Equal(before, p) {
		t.Fatal("what SQLite handed over was changed")
	}
}

func TestLogIsReadBack(t *testing.T) {
	log, m := newLog()
	head := bytes.Repeat([]byte{1}, logHeader)
	writeAt(t, log, head, 0)
	plain := bytes.Clone(head)
	for i := range 10 {
		off, header, page := frame(i)
		writeAt(t, log, header, off)
		// SQLite may sync in the middle of a page.
		cut := rand.IntN(framePage)
		writeAt(t, log, page[:cut], off+frameHeader)
		writeAt(t, log, page[cut:], off+frameHeader+int64(cut))
		plain = append(append(plain, header...), page...)
	}
	if len(m.content) != len(plain) {
		t.Fatalf("%d bytes, want %d", len(m.content), len(plain))
	}
	for range 1000 {
		from := rand.IntN(len(plain))
		part := make([]byte, 1+rand.IntN(len(plain)-from))
		if n, err := log.ReadAt(part, int64(from)); n != len(part) || err != nil || !bytes.Equal(part, plain[from:from+n]) {
			t.Fatalf("%d bytes from %d: %d, %v", len(part), from, n, err)
		}
	}
	if bytes.Contains(m.content, bytes.Repeat([]byte{105}, 16)) || bytes.Contains(m.content, bytes.Repeat([]byte{5}, 16)) {
		t.Error("the log is in the clear")
	}
}

// Frames that a reader may be using are not modified by later ones.
func TestLogNeverWritesAFrameAgain(t *testing.T) {
	log, m := newLog()
	writeAt(t, log, make([]byte, logHeader), 0)
	for i := range 20 {
		off, header, page := frame(i)
		before := bytes.Clone(m.content)
		m.written = nil
		writeAt(t, log, header, off)
		writeAt(t, log, page, off+frameHeader)
		if !bytes.Equal(before, m.content[:len(before)]) {
			t.Fatalf("frame %d changed what stands before it", i)
		}
		for _, at := range m.written {
			if at < off {
				t.Errorf("frame %d, at %d, wrote at %d", i, off, at)
			}
		}
	}
}

// A log truncated by a crash ends at that point.
func TestLogCutOff(t *testing.T) {
	log, m := newLog()
	writeAt(t, log, make([]byte, logHeader), 0)
	off, header, page := frame(0)
	writeAt(t, log, header, off)
	writeAt(t, log, page, off+frameHeader)
	for _, length := range []int{0, 10, logHeader, logHeader + 5, logHeader + frameHeader, logHeader + frameHeader + 100, len(m.content) - 1} {
		cut := &logFile{File: &memoryFile{content: m.content[:length]}, cipher: log.cipher}
		if _, err := cut.ReadAt(make([]byte, frameHeader+framePage), off); !errors.Is(err, io.EOF) {
			t.Errorf("cut to %d bytes: %v", length, err)
		}
	}
}
