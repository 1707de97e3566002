package series

import (
	"encoding/binary"
	"math"

	"anodyne.example/anodyne/internal/pain"
)

// The packed form has a version, the unit of time, and then scores,
// assessments, procedures, medications, impacts and screens, each as a count
// and the entries. Times are differences from the previous one, starting at
// 1970. Numbers are varints unless noted.
//
// The version is that of the derivation rules for medications, so that it
// shows by which rules a series was made. If only the packed form changes,
// [pain.Derivation] is increased too.
const version = pain.Derivation

// units are the units of time in milliseconds. The largest unit that divides
// all times is used; most clinical times are whole minutes.
var units = [...]int64{1, 1000, 60_000}

// Encode appends the packed form of a sorted series.
func (s *Series) Encode(b []byte) []byte {
	unit := s.unit()
	b = append(b, version, byte(unit))
	b = s.encodeScores(b, units[unit])
	b = s.encodeAssessments(b, units[unit])
	b = s.encodeProcedures(b, units[unit])
	b = s.encodeMedications(b)
	b = s.encodeImpacts(b, units[unit])
	return s.encodeScreens(b)
}

// unit returns the index of the largest unit that divides all times.
func (s *Series) unit() int {
	unit := len(units) - 1
	fit := func(at int64) {
		for at%units[unit] != 0 {
			unit--
		}
	}
	for i := range s.Scores {
		fit(s.Scores[i].At)
	}
	for i := range s.Assessments {
		fit(s.Assessments[i].At)
	}
	for i := range s.Procedures {
		fit(s.Procedures[i].At)
	}
	for i := range s.Impacts {
		fit(s.Impacts[i].At)
	}
	return unit
}

// encodeScores encodes pain scores. The lowest bit of the time is set if scale
// and aspect (a nibble each), site, and side with the context follow, because
// they differ from those of the previous score.
func (s *Series) encodeScores(b []byte, unit int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Scores)))
	var at int64
	var kind Kind
	var after bool
	for i := range s.Scores {
		e := &s.Scores[i]
		step := zigzag((e.At-at)/unit) << 1
		if e.Kind == kind && e.After == after {
			b = append(binary.AppendUvarint(b, step), e.Value)
		} else {
			b = append(binary.AppendUvarint(b, step|1), e.Value, byte(e.Scale)<<4|byte(e.Aspect), byte(e.Site), byte(e.Side)<<1|flag(e.After, 1))
		}
		at, kind, after = e.At, e.Kind, e.After
	}
	return b
}

func (s *Series) encodeAssessments(b []byte, unit int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Assessments)))
	var at int64
	for i := range s.Assessments {
		e := &s.Assessments[i]
		b = binary.AppendUvarint(b, zigzag((e.At-at)/unit))
		b = append(b, byte(e.Instrument), byte(e.Status)|byte(e.Safety)<<3|flag(e.Score.Known, 1<<5))
		b = appendValue(b, e.Score)
		at = e.At
	}
	return b
}

func (s *Series) encodeProcedures(b []byte, unit int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Procedures)))
	var at int64
	for i := range s.Procedures {
		e := &s.Procedures[i]
		b = binary.AppendUvarint(b, zigzag((e.At-at)/unit))
		b = append(b, byte(e.Type), byte(e.Site), flag(e.Pre.Known, 1)|flag(e.Post.Known, 2))
		b = appendValue(appendValue(b, e.Pre), e.Post)
		at = e.At
	}
	return b
}

// encodeMedications encodes medications. It uses days instead of times. The
// lowest bit of the number of days is set for open ones. The dose follows for
// opioids.
func (s *Series) encodeMedications(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Medications)))
	var first int64
	for i := range s.Medications {
		e := &s.Medications[i]
		b = binary.AppendUvarint(b, zigzag(int64(e.First)-first))
		b = binary.AppendUvarint(b, e.length())
		b = append(b, byte(e.Class), byte(e.Ingredient), byte(e.Status)|byte(e.Reason)<<4)
		if e.hasMME() {
			b = appendNumber(b, e.MME)
		}
		b = append(b, e.flags())
		if e.HasEnd {
			b = binary.AppendUvarint(b, zigzag(int64(e.End)-int64(e.First)))
		}
		for _, name := range [...]uint32{e.Drug, e.Product, e.Prescriber, e.Pharmacy} {
			if name != 0 {
				b = binary.LittleEndian.AppendUint32(b, name)
			}
		}
		first = int64(e.First)
	}
	return b
}

// flags encodes which fields of a medicine are present.
func (m *Medication) flags() byte {
	return flag(m.Supplied, 1) | flag(m.HasEnd, 1<<1) | flag(m.Drug != 0, 1<<2) | flag(m.Product != 0, 1<<3) | flag(m.Prescriber != 0, 1<<4) | flag(m.Pharmacy != 0, 1<<5) | byte(m.Release)<<6
}

func (s *Series) encodeImpacts(b []byte, unit int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Impacts)))
	var at int64
	for i := range s.Impacts {
		e := &s.Impacts[i]
		b = append(binary.AppendUvarint(b, zigzag((e.At-at)/unit)), byte(e.Asks)<<4|byte(e.Level))
		at = e.At
	}
	return b
}

func (s *Series) encodeScreens(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.Screens)))
	var last int64
	for _, day := range s.Screens {
		b = binary.AppendUvarint(b, zigzag(int64(day)-last))
		last = int64(day)
	}
	return b
}

func (m *Medication) hasMME() bool { return m.Class == opioid && m.Reason == 0 }

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

func appendValue(b []byte, v Value) []byte {
	if !v.Known {
		return b
	}
	return appendNumber(b, v.Number)
}

// parts is the denominator of most numbers: those that are a whole number of
// sixtieths (tenths, thirds, halves) are encoded as that whole number. The
// division restores them exactly.
const parts = 60

// appendNumber encodes a number: an even value is a number of sixtieths, and 1
// is followed by all 8 bytes.
func appendNumber(b []byte, f float64) []byte {
	if n := math.Round(f * parts); math.Abs(n) < 1<<50 && n/parts == f {
		return binary.AppendUvarint(b, zigzag(int64(n))<<1)
	}
	return binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(f))
}

// zigzag maps small numbers of either sign to small unsigned ones.
func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
