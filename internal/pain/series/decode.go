package series

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"anodyne.example/anodyne/internal/pain/drug"
)

var opioid = ClassOf(drug.Opioid)

// ErrFormat is returned for bytes that are not a packed series of this
// version.
var ErrFormat = errors.New("not a packed series")

// Decode appends the decoded entries to the series. After an error, the series
// must not be used.
func (s *Series) Decode(packed []byte) error {
	if len(packed) < 2 || packed[0] != version || int(packed[1]) >= len(units) {
		return ErrFormat
	}
	d := decoder{b: packed[2:], unit: units[packed[1]]}
	d.scores(s)
	d.assessments(s)
	d.procedures(s)
	d.medications(s)
	d.impacts(s)
	d.screens(s)
	if d.bad || len(d.b) != 0 {
		return ErrFormat
	}
	return nil
}

// Outdated reports whether bytes are a series packed by another version of the
// program, which must be rebuilt from the records.
func Outdated(packed []byte) bool { return len(packed) > 0 && packed[0] != version }

// decoder reads bytes from its current position. After an error, it returns
// zeros.
type decoder struct {
	b    []byte
	unit int64
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	if len(d.b) >= 8 {
		if u, n := short(binary.LittleEndian.Uint64(d.b)); n <= maxShort {
			d.b = d.b[n:]
			return u
		}
	}
	u, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return u
}

// maxShort is the maximum length of a varint that short can read. Nearly all
// are that short.
const maxShort = 4

// short reads a varint from the next eight bytes without branching on each
// byte, because such branches are unpredictable. n is above maxShort if it is
// longer.
func short(next uint64) (u uint64, n int) {
	ends := ^next & 0x80808080_80808080
	n = bits.TrailingZeros64(ends)>>3 + 1
	next &= ends ^ (ends - 1) // up to the first byte without a continuation bit
	return next&0x7f | next>>1&(0x7f<<7) | next>>2&(0x7f<<14) | next>>3&(0x7f<<21), n
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// count reads the number of entries, which is limited by the remaining bytes.
func (d *decoder) count(atLeast int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/atLeast) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

// time adds a difference to a time.
func (d *decoder) time(at int64, step uint64) int64 { return at + unzigzag(step)*d.unit }

func (d *decoder) number() float64 {
	u := d.uvarint()
	if u&1 == 0 {
		return float64(unzigzag(u>>1)) / parts
	}
	if u != 1 || len(d.b) < 8 {
		d.bad, d.b = true, nil
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return f
}

func (d *decoder) value(known bool) Value {
	if !known {
		return Value{}
	}
	return Value{d.number(), true}
}

// room grows a list by n entries.
func room[T any](list []T, n int) []T {
	if cap(list)-len(list) >= n {
		return list
	}
	return append(make([]T, 0, len(list)+n), list...)
}

// scores decodes pain scores, which are nearly all of the data. As long as one
// load covers a whole score, the score is read from it; the rest is read field
// by field.
func (d *decoder) scores(s *Series) {
	n := d.count(2)
	s.Scores = room(s.Scores, n)
	list := s.Scores[len(s.Scores) : len(s.Scores)+n]
	var e Score
	b, unit, done := d.b, d.unit, 0
	for ; done < len(list) && len(b) >= 8; done++ {
		next := binary.LittleEndian.Uint64(b)
		step, size := short(next)
		if size > maxShort {
			break
		}
		next >>= 8 * size
		e.At += unzigzag(step>>1) * unit
		e.Value = byte(next)
		size++
		if step&1 != 0 {
			e.Kind = Kind{Scale(next >> 12 & 15), Aspect(next >> 8 & 15), Site(next >> 16), Side(next >> 25 & 127)}
			e.After = next>>24&1 != 0
			size += 3
		}
		b = b[size:]
		list[done] = e
	}
	d.b = b
	for ; done < len(list); done++ {
		step := d.uvarint()
		e.At, e.Value = d.time(e.At, step>>1), d.byte()
		if step&1 != 0 {
			c := d.byte()
			site, side := d.byte(), d.byte()
			e.Kind, e.After = Kind{Scale(c >> 4), Aspect(c & 15), Site(site), Side(side >> 1)}, side&1 != 0
		}
		list[done] = e
	}
	s.Scores = s.Scores[:len(s.Scores)+n]
}

func (d *decoder) assessments(s *Series) {
	n := d.count(3)
	s.Assessments = room(s.Assessments, n)
	var at int64
	for range n {
		at = d.time(at, d.uvarint())
		e := Assessment{At: at, Instrument: Instrument(d.byte())}
		c := d.byte()
		e.Status, e.Safety, e.Score = Status(c&7), Truth(c>>3&3), d.value(c&(1<<5) != 0)
		s.Assessments = append(s.Assessments, e)
	}
}

func (d *decoder) procedures(s *Series) {
	n := d.count(4)
	s.Procedures = room(s.Procedures, n)
	var at int64
	for range n {
		at = d.time(at, d.uvarint())
		e := Procedure{At: at, Type: ProcedureType(d.byte()), Site: Site(d.byte())}
		c := d.byte()
		e.Pre = d.value(c&1 != 0)
		e.Post = d.value(c&2 != 0)
		s.Procedures = append(s.Procedures, e)
	}
}

func (d *decoder) medications(s *Series) {
	n := d.count(6)
	s.Medications = room(s.Medications, n)
	var first int64
	for range n {
		first = int64(d.day(first))
		length := d.uvarint()
		days := length >> 1
		if days < 1 || days > math.MaxInt32/2 {
			d.bad, d.b = true, nil
		}
		span := drug.Span{First: drug.Day(first), Last: drug.Day(first) + drug.Day(days) - 1}
		e := Medication{Span: span, Open: length&1 != 0, Class: Class(d.byte()), Ingredient: Ingredient(d.byte())}
		c := d.byte()
		e.Status, e.Reason = MedicationStatus(c&15), Reason(c>>4)
		if e.hasMME() {
			e.MME = d.number()
		}
		c = d.byte()
		e.Supplied, e.HasEnd, e.Release = c&1 != 0, c&(1<<1) != 0, drug.Release(c>>6)
		if e.HasEnd {
			e.End = d.day(first)
		}
		for i, name := range [...]*uint32{&e.Drug, &e.Product, &e.Prescriber, &e.Pharmacy} {
			if c&(1<<(2+i)) != 0 {
				*name = d.name()
			}
		}
		s.Medications = append(s.Medications, e)
	}
}

// day reads the difference from another day.
func (d *decoder) day(from int64) drug.Day {
	from += unzigzag(d.uvarint())
	if from < math.MinInt32/2 || from > math.MaxInt32/2 {
		d.bad, d.b = true, nil
		return 0
	}
	return drug.Day(from)
}

// name reads the hash of a name, which is never 0.
func (d *decoder) name() uint32 {
	if len(d.b) < 4 {
		d.bad, d.b = true, nil
		return 0
	}
	u := binary.LittleEndian.Uint32(d.b)
	d.b = d.b[4:]
	d.bad = d.bad || u == 0
	return u
}

func (d *decoder) impacts(s *Series) {
	n := d.count(2)
	s.Impacts = room(s.Impacts, n)
	var at int64
	for range n {
		at = d.time(at, d.uvarint())
		c := d.byte()
		s.Impacts = append(s.Impacts, Impact{at, Question(c >> 4), Level(c & 15)})
	}
}

func (d *decoder) screens(s *Series) {
	n := d.count(1)
	s.Screens = room(s.Screens, n)
	var last int64
	for range n {
		day := d.day(last)
		s.Screens = append(s.Screens, day)
		last = int64(day)
	}
}
