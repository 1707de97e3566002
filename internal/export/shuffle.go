package export

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"

	"anodyne.example/anodyne/internal/pain"
)

// Patients are read in the order of their registration, which de-identified
// files must not show. So the rows of a table are put into a random order that
// does not depend on it, with a bounded amount of memory: the rows of a patient
// go to a bucket chosen at random, the buckets are written to a temporary file,
// and each is then read and shuffled by itself. Every order of the patients is
// equally likely, as if all rows had been shuffled in memory (decision 64).

const (
	shuffleBuckets = 64
	// groupedBytes ends a group of rows: a patient with more has several, which
	// are shuffled like those of different patients.
	groupedBytes = 128 << 10
)

// Some tests reduce these.
var (
	// heldBytes is how much of a table is held in memory before it is written to
	// the temporary file.
	heldBytes = 1 << 20
	// bucketBytes is the size of the largest bucket that is shuffled in memory. A
	// larger one is distributed to buckets of its own.
	bucketBytes = int64(4 << 20)
)

// Scratch returns a temporary file in a directory. It has no name, so nothing
// is left of it when it is closed, or the process is killed.
func Scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "export-*") // readable by the owner only
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// shuffle puts groups of rows into a random order.
type shuffle struct {
	disk    *scratch
	random  *mathrand.Rand
	buckets [shuffleBuckets]bucket
	held    int // bytes of all buckets in memory
}

// bucket has groups of rows, each after its length.
type bucket struct {
	held   []byte
	parts  []part
	size   int64 // of the parts, unpacked
	groups int
}

// part is a part of a bucket in the temporary file.
type part struct {
	at     int64
	length int
	number uint64
}

// newShuffle returns a shuffle. open creates its temporary file, if there is
// more than fits into memory.
func newShuffle(open func() (*os.File, error)) *shuffle {
	var seed [32]byte
	rand.Read(seed[:])
	return &shuffle{disk: &scratch{open: open}, random: mathrand.New(mathrand.NewChaCha8(seed))}
}

// add adds a group of rows.
func (s *shuffle) add(group []byte) error {
	b := &s.buckets[s.random.IntN(shuffleBuckets)]
	b.groups++
	before := len(b.held)
	b.held = append(binary.AppendUvarint(b.held, uint64(len(group))), group...)
	if s.held += len(b.held) - before; s.held < heldBytes {
		return nil
	}
	for i := range s.buckets {
		b := &s.buckets[i]
		if len(b.held) == 0 {
			continue
		}
		written, err := s.disk.write(b.held)
		if err != nil {
			return err
		}
		b.parts, b.size, b.held = append(b.parts, written), b.size+int64(len(b.held)), b.held[:0]
	}
	s.held = 0
	return nil
}

// drain calls emit with all groups in a random order. They may be kept.
func (s *shuffle) drain(emit func(group string) error) error {
	for i := range s.buckets {
		b := s.buckets[i]
		s.buckets[i] = bucket{}
		drain := s.drainBucket
		if b.size > bucketBytes && b.groups > 1 {
			drain = s.drainLarge
		}
		if err := drain(&b, emit); err != nil {
			return err
		}
	}
	return nil
}

func (s *shuffle) drainBucket(b *bucket, emit func(group string) error) error {
	var all strings.Builder
	all.Grow(int(b.size) + len(b.held))
	if err := s.eachPart(b, func(text []byte) error { all.Write(text); return nil }); err != nil {
		return err
	}
	groups := make([]string, 0, b.groups)
	if err := eachGroup(all.String(), func(group string) error { groups = append(groups, group); return nil }); err != nil {
		return err
	}
	s.random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for _, group := range groups {
		if err := emit(group); err != nil {
			return err
		}
	}
	return nil
}

func (s *shuffle) drainLarge(b *bucket, emit func(group string) error) error {
	inner := &shuffle{disk: s.disk, random: s.random}
	if err := s.eachPart(b, func(text []byte) error {
		return eachGroup(string(text), func(group string) error { return inner.add([]byte(group)) })
	}); err != nil {
		return err
	}
	return inner.drain(emit)
}

// eachPart calls each with the parts of a bucket, which are valid during the
// call.
func (s *shuffle) eachPart(b *bucket, each func(text []byte) error) error {
	for _, p := range b.parts {
		text, err := s.disk.read(p)
		if err != nil {
			return err
		}
		if err := each(text); err != nil {
			return err
		}
	}
	return each(b.held)
}

// errScratch is returned if the temporary file does not have what was written.
var errScratch = errors.New("the temporary file of an export is damaged")

// eachGroup calls each with the groups of a part.
func eachGroup(text string, each func(group string) error) error {
	for len(text) > 0 {
		n, width := uvarint(text)
		if width <= 0 || n > uint64(len(text)-width) {
			return errScratch
		}
		if err := each(text[width : width+int(n)]); err != nil {
			return err
		}
		text = text[width+int(n):]
	}
	return nil
}

// close frees the temporary file.
func (s *shuffle) close() error {
	if s.disk.file == nil {
		return nil
	}
	return s.disk.file.Close()
}

// scratch is a temporary file, compressed and encrypted with a key that only
// this process has.
type scratch struct {
	open   func() (*os.File, error)
	file   *os.File
	block  cipher.Block
	size   int64
	parts  uint64
	packed []byte
	plain  []byte
}

// stream returns the key stream of a part. No two parts have the same.
func (d *scratch) stream(number uint64) cipher.Stream {
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[:], number)
	return cipher.NewCTR(d.block, iv[:])
}

func (d *scratch) write(text []byte) (part, error) {
	if d.file == nil {
		key := make([]byte, 32)
		rand.Read(key)
		var err error
		if d.block, err = aes.NewCipher(key); err != nil {
			return part{}, err
		}
		if d.file, err = d.open(); err != nil {
			return part{}, err
		}
	}
	d.packed = s2.Encode(d.packed[:cap(d.packed)], text)
	p := part{d.size, len(d.packed), d.parts}
	d.stream(p.number).XORKeyStream(d.packed, d.packed)
	if _, err := d.file.WriteAt(d.packed, p.at); err != nil {
		return part{}, err
	}
	d.parts++
	d.size += int64(p.length)
	return p, nil
}

// read returns a part, which is valid until the next call.
func (d *scratch) read(p part) ([]byte, error) {
	d.packed = slices.Grow(d.packed[:0], p.length)[:p.length]
	if _, err := d.file.ReadAt(d.packed, p.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d.stream(p.number).XORKeyStream(d.packed, d.packed)
	text, err := s2.Decode(d.plain[:cap(d.plain)], d.packed)
	d.plain = text
	return text, err
}

// shuffled is a rowWriter that puts the rows of a table into a random order. The
// rows of a patient stay together, unless they are very many.
type shuffled struct {
	to      rowWriter
	columns []pain.Column
	rows    *shuffle
	who     *subject
	group   []byte
}

// write adds a row of a patient.
func (w *shuffled) write(who *subject, cells []pain.Cell) error {
	if who != w.who || len(w.group) >= groupedBytes {
		if err := w.end(); err != nil {
			return err
		}
		w.who = who
	}
	for i := range cells {
		w.group = appendCell(w.group, w.columns[i].Type, &cells[i])
	}
	return nil
}

// end ends the group of rows.
func (w *shuffled) end() error {
	if len(w.group) == 0 {
		return nil
	}
	err := w.rows.add(w.group)
	w.group = w.group[:0]
	return err
}

// close writes all rows.
func (w *shuffled) close() error {
	err := w.end()
	if err == nil {
		err = w.rows.drain(w.emit)
	}
	if err = errors.Join(err, w.rows.close()); err != nil {
		return err
	}
	return w.to.close()
}

func (w *shuffled) emit(group string) error {
	cells := make([]pain.Cell, len(w.columns))
	for len(group) > 0 {
		for i := range cells {
			var ok bool
			if cells[i], group, ok = cutCell(group, w.columns[i].Type); !ok {
				return errScratch
			}
		}
		if err := w.to.write(cells); err != nil {
			return err
		}
	}
	return nil
}

// appendCell appends a cell: 0 for null, or 1 and the value.
func appendCell(b []byte, t pain.ColumnType, c *pain.Cell) []byte {
	if !c.Set {
		return append(b, 0)
	}
	b = append(b, 1)
	switch t {
	case pain.TextColumn:
		return appendText(b, c.Text)
	case pain.TextsColumn:
		b = binary.AppendUvarint(b, uint64(len(c.Texts)))
		for _, s := range c.Texts {
			b = appendText(b, s)
		}
		return b
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Number))
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutCell returns the first cell and the rest.
func cutCell(s string, t pain.ColumnType) (c pain.Cell, rest string, ok bool) {
	if s == "" {
		return c, s, false
	}
	if c.Set, s = s[0] == 1, s[1:]; !c.Set {
		return c, s, true
	}
	switch t {
	case pain.TextColumn:
		c.Text, s, ok = cutText(s)
		return c, s, ok
	case pain.TextsColumn:
		n, width := uvarint(s)
		if width <= 0 || n > uint64(len(s)) {
			return c, s, false
		}
		s, c.Texts = s[width:], make([]string, n)
		for i := range c.Texts {
			if c.Texts[i], s, ok = cutText(s); !ok {
				return c, s, false
			}
		}
		return c, s, true
	}
	if len(s) < 8 {
		return c, s, false
	}
	bits := uint64(0)
	for i := range 8 {
		bits |= uint64(s[i]) << (8 * i)
	}
	c.Number = math.Float64frombits(bits)
	return c, s[8:], true
}

func cutText(s string) (text, rest string, ok bool) {
	n, width := uvarint(s)
	if width <= 0 || n > uint64(len(s)-width) {
		return "", s, false
	}
	return s[width : width+int(n)], s[width+int(n):], true
}

// uvarint is binary.Uvarint of a string.
func uvarint(s string) (n uint64, width int) {
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
