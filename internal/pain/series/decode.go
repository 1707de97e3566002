package series

import (
	"encoding/binary"
	"errors"
	"math"

	"anodyne/internal/pain/drug"
)

var opioid = ClassOf(drug.Opioid)

// ErrFormat says that bytes are no packed series of this version.
var ErrFormat = errors.New("not a packed series")

// Decode adds what bytes hold, after what is there. On an error the series is
// good for nothing.
func (s *Series) Decode(packed []byte) error {
	if len(packed) < 2 || packed[0] != version || int(packed[1]) >= len(units) {
		return ErrFormat
	}
	d := decoder{b: packed[2:], unit: units[packed[1]]}
	d.scores(s)
	d.assessments(s)
	d.procedures(s)
	d.medications(s)
	if d.bad || len(d.b) != 0 {
		return ErrFormat
	}
	return nil
}

// decoder reads on from where it is; once something is bad it gives zeros.
type decoder struct {
	b    []byte
	unit int64
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 { // by far the most
		u := uint64(d.b[0])
		d.b = d.b[1:]
		return u
	}
	u, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return u
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

// count reads how many entries there are, which cannot be more than the bytes
// that are left have room for.
func (d *decoder) count(atLeast int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/atLeast) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

// time adds a distance to a time.
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

// room makes room for n more entries.
func room[T any](list []T, n int) []T {
	if cap(list)-len(list) >= n {
		return list
	}
	return append(make([]T, 0, len(list)+n), list...)
}

func (d *decoder) scores(s *Series) {
	n := d.count(2)
	s.Scores = room(s.Scores, n)
	var e Score
	for range n {
		step := d.uvarint()
		e.At, e.Value = d.time(e.At, step>>1), d.byte()
		if step&1 != 0 {
			c := d.byte()
			e.Kind = Kind{Scale(c >> 4), Aspect(c & 15), Site(d.byte())}
		}
		s.Scores = append(s.Scores, e)
	}
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
	n := d.count(5)
	s.Medications = room(s.Medications, n)
	var first int64
	for range n {
		first += unzigzag(d.uvarint())
		length := d.uvarint()
		days := length >> 1
		if first < math.MinInt32/2 || first > math.MaxInt32/2 || days < 1 || days > math.MaxInt32/2 {
			d.bad, d.b = true, nil
		}
		span := drug.Span{First: drug.Day(first), Last: drug.Day(first) + drug.Day(days) - 1}
		e := Medication{Span: span, Open: length&1 != 0, Class: Class(d.byte()), Ingredient: Ingredient(d.byte())}
		c := d.byte()
		e.Status, e.Reason = MedicationStatus(c&15), Reason(c>>4)
		if e.hasMME() {
			e.MME = d.number()
		}
		s.Medications = append(s.Medications, e)
	}
}
