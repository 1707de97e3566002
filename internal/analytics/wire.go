package analytics

import (
	"encoding/binary"
	"errors"
	"math"
)

// wire writes or reads the counts of a tally, so that a node can send them to
// another. Writing does not change the tally, which others may be reading. Each type lists its fields once, for both directions; a test fails
// if one is missing. There is no version: only nodes with the same program
// exchange tallies.
type wire struct {
	reading bool
	b       []byte // what is written, or what is left to read
	err     error
}

var errTally = errors.New("not the counts of a tally with these parameters")

// Encode returns the counts of a closed tally.
func (t *OutcomesTally) Encode() []byte { return encode(t) }

// Decode sets the counts of an empty tally to those of another one with the
// same parameters.
func (t *OutcomesTally) Decode(b []byte) error { return decode(t, b) }

// Encode returns the counts of a closed tally.
func (t *PopulationTally) Encode() []byte { return encode(t) }

// Decode sets the counts of an empty tally to those of another one with the
// same parameters.
func (t *PopulationTally) Decode(b []byte) error { return decode(t, b) }

// encodable is a tally whose counts are written and read by one function.
type encodable interface{ wire(*wire) }

func encode(t encodable) []byte {
	var w wire
	t.wire(&w)
	return w.b
}

func decode(t encodable, b []byte) error {
	w := wire{reading: true, b: b}
	t.wire(&w)
	return w.end()
}

// end returns an error unless everything was read.
func (w *wire) end() error {
	if w.err == nil && len(w.b) > 0 {
		w.err = errTally
	}
	return w.err
}

// fail ends reading.
func (w *wire) fail() { w.b, w.err = nil, errTally }

func (w *wire) unsigned(n *uint64) {
	if !w.reading {
		w.b = binary.AppendUvarint(w.b, *n)
		return
	}
	value, size := binary.Uvarint(w.b)
	if size <= 0 {
		w.fail()
		return
	}
	*n, w.b = value, w.b[size:]
}

func (w *wire) signed(n *int64) {
	if !w.reading {
		w.b = binary.AppendVarint(w.b, *n)
		return
	}
	value, size := binary.Varint(w.b)
	if size <= 0 {
		w.fail()
		return
	}
	*n, w.b = value, w.b[size:]
}

// number writes or reads an integer of any type.
func number[N ~int | ~int32 | ~int64](w *wire, n *N) {
	wide := int64(*n)
	if w.signed(&wide); !w.reading {
		return // others may read it now
	}
	if *n = N(wide); int64(*n) != wide {
		w.fail()
	}
}

func (w *wire) ints(list ...*int) {
	for _, n := range list {
		number(w, n)
	}
}

// numbers writes or reads a list whose length follows from the parameters.
func numbers[N ~int | ~int32 | ~int64](w *wire, list []N) {
	w.length(len(list))
	for i := range list {
		number(w, &list[i])
	}
}

// length writes the length of a list, or checks it.
func (w *wire) length(want int) {
	n := uint64(want)
	if w.unsigned(&n); n != uint64(want) {
		w.fail()
	}
}

func (w *wire) float(f *float64) {
	bits := math.Float64bits(*f)
	if w.unsigned(&bits); w.reading {
		*f = math.Float64frombits(bits)
	}
}

func (n *wide) wire(w *wire) {
	w.unsigned(&n.hi)
	w.unsigned(&n.lo)
}

func (s *sum) wire(w *wire) {
	w.ints(&s.n)
	s.total.wire(w)
	s.squares.wire(w)
}

func (p *paired) wire(w *wire) {
	w.ints(&p.n)
	w.signed(&p.befores)
	w.signed(&p.afters)
	p.squared.wire(w)
	p.squares.wire(w)
	p.products.wire(w)
}

func (s *strata) wire(w *wire) {
	for g := range s {
		numbers(w, s[g][:])
	}
}

func (r *rates) wire(w *wire) {
	r.n.wire(w)
	r.yes.wire(w)
	r.open.wire(w)
}

// wire writes runs as numbers of equal doses, each with the difference from the
// dose before.
func (d *doses) wire(w *wire) {
	w.ints(&d.n)
	d.total.wire(w)
	runs := uint64(len(d.runs))
	w.unsigned(&runs)
	if w.reading {
		d.readRuns(w, runs)
		return
	}
	for _, run := range d.runs {
		size := uint64(len(run))
		w.unsigned(&size)
		last := dose(0)
		for len(run) > 0 {
			equal := 1
			for equal < len(run) && run[equal] == run[0] {
				equal++
			}
			more, count := uint64(run[0]-last), uint64(equal)
			w.unsigned(&more)
			w.unsigned(&count)
			last, run = run[0], run[equal:]
		}
	}
}

func (d *doses) readRuns(w *wire, runs uint64) {
	left := d.n
	for range runs {
		var size uint64
		if w.unsigned(&size); w.err != nil || size > uint64(left) {
			w.fail()
			return
		}
		left -= int(size)
		run := make([]dose, 0, size)
		for last := dose(0); len(run) < int(size); {
			var more, count uint64
			w.unsigned(&more)
			w.unsigned(&count)
			if w.err != nil || count == 0 || count > size-uint64(len(run)) {
				w.fail()
				return
			}
			last += dose(more)
			for range count {
				run = append(run, last)
			}
		}
		d.runs = append(d.runs, run)
	}
	if left != 0 {
		w.fail()
	}
}
