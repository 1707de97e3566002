package journal

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	fastflate "github.com/klauspost/compress/flate"
	"github.com/oklog/ulid/v2"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
)

// spool stores the audit lines of reads. Each is written before the response is
// sent, so that even a killed process has recorded everything that it disclosed.
// Lines of reads that are about to be answered at the same time share a write(2).
// A worker moves the lines to the journal in compressed batches.
//
// A segment is a file locked by its process. A segment without a lock belongs
// to a process that died, and another takes it over.
type spool struct {
	dir string
	// gathers is set if many reads are answered at the same time. Their lines
	// then share a write.
	gathers bool
	// gathering guards next, the lines of the next write.
	gathering sync.Mutex
	next      *spoolLines
	// mu guards the segment.
	mu  sync.Mutex
	seg segment
	end int64
	// since is the time of the first line of the segment.
	since time.Time
	// shipping is held while segments are shipped, so that nobody misses lines
	// that another goroutine is just shipping.
	shipping chan struct{}
}

// spoolLines are lines that are written together, by the caller of the first.
type spoolLines struct {
	bytes   []byte
	written chan struct{} // closed when they are; nil if nobody waits
	err     error
}

// segment is an open file with its final name.
type segment struct {
	*os.File
	path string
}

const (
	spoolFolder   = "spool" // in the data directory
	segmentSuffix = ".spool"
)

func openSpool(dir string, gathers bool) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit spool: %w", err)
	}
	sp := &spool{dir: dir, gathers: gathers, shipping: make(chan struct{}, 1)}
	var err error
	sp.seg, err = sp.create()
	return sp, err
}

// create creates a segment. It is renamed to its final name once it is locked,
// because another process would take it for an orphan before.
func (sp *spool) create() (segment, error) {
	path := filepath.Join(sp.dir, strings.ToLower(ulid.Make().String())+segmentSuffix)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return segment{}, fmt.Errorf("audit spool: %w", err)
	}
	if err = lockFile(f); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return segment{}, errors.Join(fmt.Errorf("audit spool: %w", err), f.Close(), os.Remove(f.Name()))
	}
	return segment{f, path}, nil
}

// lines are the buffers for encoding lines outside the lock.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// add appends one line. If it fails, the read must not be answered.
func (sp *spool) add(org access.OrgNo, e *audit.Entry) error {
	line := lines.Get().(*[]byte)
	defer lines.Put(line)
	*line = append(strconv.AppendInt((*line)[:0], int64(org), 10), ' ')
	*line = append(e.Append(*line), '\n')
	if !sp.gathers {
		sp.mu.Lock()
		defer sp.mu.Unlock()
		return sp.write(*line)
	}
	sp.gathering.Lock()
	if with := sp.next; with != nil {
		with.bytes = append(with.bytes, *line...)
		if with.written == nil {
			with.written = make(chan struct{})
		}
		sp.gathering.Unlock()
		<-with.written
		return with.err
	}
	own := &spoolLines{bytes: *line}
	sp.next = own
	sp.gathering.Unlock()
	runtime.Gosched() // to goroutines that are about to add a line
	sp.writeNext(own)
	*line = own.bytes
	return own.err
}

// writeNext writes the lines that have gathered.
func (sp *spool) writeNext(own *spoolLines) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.gathering.Lock()
	sp.next = nil
	sp.gathering.Unlock()
	if own.err = sp.write(own.bytes); own.written != nil {
		close(own.written)
	}
}

// write appends lines to the segment.
func (sp *spool) write(lines []byte) error {
	n, err := sp.seg.Write(lines)
	if err != nil {
		if n > 0 { // a partial line would corrupt the next one
			_, seek := sp.seg.Seek(sp.end, io.SeekStart)
			err = errors.Join(err, sp.seg.Truncate(sp.end), seek)
		}
		return fault.Away("The audit log cannot be written, so no data is returned.", err)
	}
	if sp.end == 0 {
		sp.since = time.Now()
	}
	sp.end += int64(n)
	return nil
}

// rotate starts a new segment and returns the old one, or none if that is
// empty.
func (sp *spool) rotate() ([]segment, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.end == 0 {
		return nil, nil
	}
	fresh, err := sp.create()
	if err != nil {
		return nil, err
	}
	old := sp.seg
	sp.seg, sp.end = fresh, 0
	return []segment{old}, nil
}

// orphans returns the segments of processes that died.
func (sp *spool) orphans() ([]segment, error) {
	paths, err := filepath.Glob(filepath.Join(sp.dir, "*"+segmentSuffix))
	if err != nil {
		return nil, err
	}
	var found []segment
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue // another process has shipped it
		}
		if err != nil {
			return found, err
		}
		if lockFile(f) != nil {
			_ = f.Close() // its process is alive
			continue
		}
		found = append(found, segment{f, path})
	}
	return found, nil
}

func (sp *spool) close() error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.end == 0 {
		_ = os.Remove(sp.seg.path)
	}
	return sp.seg.Close()
}

// lockFile locks a file, or fails at once.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// Saw records the audit line of a read. It must be called before the response
// is sent.
func (o Org) Saw(e *audit.Entry) error { return o.j.spool.add(o.org, e) }

// linesByOrg splits a segment into lines, each with its newline. A last line
// without one belongs to a read that was never answered, and is omitted.
func linesByOrg(content []byte) map[access.OrgNo][][]byte {
	lines := map[access.OrgNo][][]byte{}
	for {
		end := bytes.IndexByte(content, '\n') + 1
		if end == 0 {
			return lines
		}
		number, entry, ok := bytes.Cut(content[:end], []byte{' '})
		content = content[end:]
		org, err := strconv.ParseInt(string(number), 10, 64)
		if ok && err == nil {
			lines[access.OrgNo(org)] = append(lines[access.OrgNo(org)], entry)
		}
	}
}

// packers is a pool of compressors; creating one costs more than compressing a
// thousand lines. Every read pays for this, so it uses the faster of two
// implementations: docs/decisions/0032-compression-of-audit-entries.md.
var packers = sync.Pool{New: func() any {
	w, err := fastflate.NewWriter(nil, fastflate.BestSpeed)
	if err != nil {
		panic(err) // the level is constant and valid
	}
	return w
}}

// pack compresses lines.
func pack(lines [][]byte) []byte {
	w := packers.Get().(*fastflate.Writer)
	defer packers.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	for _, line := range lines { // writes to a buffer do not fail
		_, _ = w.Write(line)
	}
	_ = w.Close()
	return b.Bytes()
}

// unpack returns the lines of a journal entry.
func unpack(body []byte, packed int64) ([][]byte, error) {
	if packed == 0 {
		return [][]byte{bytes.Clone(body)}, nil
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(body)))
	if err != nil {
		return nil, fmt.Errorf("packed audit lines: %w", err)
	}
	return bytes.Split(bytes.TrimSuffix(plain, []byte{'\n'}), []byte{'\n'}), nil
}
