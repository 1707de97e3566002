package cohort

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// panelSize is the number of patients packed together for analytics: enough
// for a scan to run along memory, few enough to be packed again within
// microseconds when one of them changes, and to be shared out evenly among
// processors.
const panelSize = 512

// member is what a panel keeps of a patient. The zero member, but for its
// number, is a number without a patient.
type member struct {
	no      int64
	here    bool
	born    drug.Day
	gender  string
	codes   []string // ICD-10, of the patient's own conditions, sorted
	classes classSet // of all medicines, whenever they were taken
	series  []byte   // the years in order, each with its length before it
}

func (m member) number() int64 { return m.no }

// classSet is a set of classes of medicines, a bit for each.
type classSet uint16

func (s classSet) has(c series.Class) bool { return s&(1<<c) != 0 }

// panel packs what analytics want of patients with consecutive numbers. What
// is in a panel never changes.
type panel struct {
	heads      []head
	codes      []string
	series     []byte
	codeEnds   []uint32 // where in codes each patient's end
	seriesEnds []uint32
}

// head is what a filter looks at first.
type head struct {
	born    drug.Day
	classes classSet
	gender  uint8
	here    bool
}

func newPanel(patients int) *panel {
	const usualSeries = 256
	return &panel{
		heads: make([]head, 0, patients), codes: make([]string, 0, patients), series: make([]byte, 0, patients*usualSeries),
		codeEnds: make([]uint32, 0, patients), seriesEnds: make([]uint32, 0, patients),
	}
}

func (p *panel) len() int { return len(p.heads) }

func (p *panel) bytes() int64 {
	return int64(cap(p.heads))*int64(unsafe.Sizeof(head{})) + int64(cap(p.codes))*int64(unsafe.Sizeof("")) +
		int64(cap(p.series)) + int64(cap(p.codeEnds)+cap(p.seriesEnds))*4
}
