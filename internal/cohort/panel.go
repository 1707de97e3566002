package cohort

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"

	"anodyne/internal/analytics"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// panelSize is the number of patients packed together for analytics: enough
// for a scan to run along memory, few enough to be packed again within
// microseconds when one of them changes, and to be shared out evenly among
// processors.
const panelSize = 512

// panel packs what analytics want of patients with consecutive numbers. What
// is in a panel never changes.
type panel struct {
	heads      []head
	codes      []string // of all patients, each one's sorted
	codeEnds   []uint32 // where in codes each patient's end
	series     []byte   // of all patients; see member
	seriesEnds []uint32
}

// head is what a filter looks at first.
type head struct {
	born    drug.Day
	classes classSet
	gender  analytics.Gender
	here    bool
}

// member is what a panel keeps of a patient. Without here it is a number that
// has no patient.
type member struct {
	no int64
	head
	codes  []string // ICD-10
	series []byte   // the packed years in order, each after its length
}

func (m member) number() int64 { return m.no }

// classSet is the classes of a patient's medicines, whenever they were taken,
// a bit each.
type classSet uint16

func (s classSet) has(c series.Class) bool { return s&(1<<c) != 0 }

func newPanel(patients, codes, bytes int) *panel {
	return &panel{
		heads: make([]head, 0, patients),
		codes: make([]string, 0, codes), codeEnds: make([]uint32, 0, patients),
		series: make([]byte, 0, bytes), seriesEnds: make([]uint32, 0, patients),
	}
}

func (p *panel) len() int { return len(p.heads) }

func (p *panel) bytes() int64 {
	return int64(cap(p.heads))*int64(unsafe.Sizeof(head{})) + int64(cap(p.codes))*int64(unsafe.Sizeof("")) +
		int64(cap(p.series)) + 4*int64(cap(p.codeEnds)+cap(p.seriesEnds))
}

// add appends a patient. It is for a panel that nobody else sees yet.
func (p *panel) add(m *member) {
	p.heads = append(p.heads, m.head)
	p.codes = append(p.codes, m.codes...)
	p.codeEnds = append(p.codeEnds, uint32(len(p.codes)))
	p.series = append(p.series, m.series...)
	p.seriesEnds = append(p.seriesEnds, uint32(len(p.series)))
}

// span is where the part of a slot is in what is packed one after the other.
func span(ends []uint32, slot int) (from, to uint32) {
	if slot > 0 {
		from = ends[slot-1]
	}
	return from, ends[slot]
}

func (p *panel) codesOf(slot int) []string {
	from, to := span(p.codeEnds, slot)
	return p.codes[from:to:to]
}

func (p *panel) seriesOf(slot int) []byte {
	from, to := span(p.seriesEnds, slot)
	return p.series[from:to:to]
}

// with gives the panel after changes; see changeable. It is the panel itself
// when nothing in it changed, as when a patient got a new telephone number.
func (p *panel) with(changed []member, first int64) (next *panel, ok bool) {
	known := sort.Search(len(changed), func(i int) bool { return changed[i].no >= first+int64(p.len()) })
	edited := slices.DeleteFunc(slices.Clone(changed[:known]), func(m member) bool { return p.has(int(m.no-first), &m) })
	added := changed[known:]
	if len(edited) == 0 && len(added) == 0 {
		return p, true
	}
	codes, bytes := len(p.codes), len(p.series)
	for _, m := range slices.Concat(edited, added) {
		codes, bytes = codes+len(m.codes), bytes+len(m.series)
	}
	next = newPanel(p.len()+len(added), codes, bytes)
	for _, m := range edited {
		if slot := int(m.no - first); slot >= next.len() { // else it is listed twice
			next.copyFrom(p, next.len(), slot)
			next.add(&m)
		}
	}
	next.copyFrom(p, next.len(), p.len())
	for _, m := range added {
		switch free := first + int64(next.len()); {
		case m.no > free:
			return nil, false
		case m.no == free:
			next.add(&m)
		}
	}
	return next, true
}

// has reports whether a slot holds just this.
func (p *panel) has(slot int, m *member) bool {
	return p.heads[slot] == m.head && slices.Equal(p.codesOf(slot), m.codes) && bytes.Equal(p.seriesOf(slot), m.series)
}

// copyFrom appends the slots from up to, but not including, to.
func (p *panel) copyFrom(source *panel, from, to int) {
	if from == to {
		return
	}
	p.heads = append(p.heads, source.heads[from:to]...)
	p.codes, p.codeEnds = copyParts(p.codes, p.codeEnds, source.codes, source.codeEnds, from, to)
	p.series, p.seriesEnds = copyParts(p.series, p.seriesEnds, source.series, source.seriesEnds, from, to)
}

func copyParts[T any](into []T, intoEnds []uint32, source []T, ends []uint32, from, to int) ([]T, []uint32) {
	start, _ := span(ends, from)
	shift := uint32(len(into)) - start // it may wrap, and wraps back
	for _, end := range ends[from:to] {
		intoEnds = append(intoEnds, end+shift)
	}
	return append(into, source[start:ends[to-1]]...), intoEnds
}

// appendYear appends a packed year with its length.
func appendYear(b, packed []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(packed))), packed...)
}

// decodeYears reads what appendYear wrote, after what is in the series.
func decodeYears(s *series.Series, years []byte) error {
	for len(years) > 0 {
		length, width := binary.Uvarint(years)
		packed := years[width:][:length]
		if err := s.Decode(packed); err != nil {
			return err
		}
		years = years[width:][length:]
	}
	return nil
}
