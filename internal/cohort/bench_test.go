package cohort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne/internal/id"
	"anodyne/internal/pain"
)

var (
	givenNames = []string{"Anna", "José", "Zoë", "Łukasz", "Søren", "Mária", "François", "Ivan", "Νίκος", "Анастасия", "Mohammed", "Siobhán", "Nguyễn", "Işıl", "Peter", "Maria", "Catherine", "Wei", "Jürgen", "Olga"}
	middle     = []string{"", "", "", " A.", " van der", " de la", " Marie", " bin", " O'", " J."}
	syllables  = []string{"ber", "ga", "mann", "son", "ko", "vić", "lin", "sen", "ros", "tei", "ner", "hu", "mar", "tín", "øy", "wal", "sch", "mid", "ova", "ski", "qui", "zu", "fer", "nán"}
)

// newRoster packs patients without a database.
func newRoster(patients []patient) roster {
	var r roster
	for part := range slices.Chunk(patients, chunkSize) {
		c := newChunk(int64(len(part)))
		for _, p := range part {
			c.add(p.key, p.name)
		}
		r = append(r, c.fit())
	}
	return r
}

var million = sync.OnceValue(func() (m struct {
	roster
	id string
}) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	patients := make([]patient, 1_000_000)
	for i := range patients {
		name := pick(givenNames) + pick(middle) + " "
		for range 2 + random.IntN(3) {
			name += pick(syllables)
		}
		patientID := id.New[id.PatientKind](at.Add(time.Duration(i) * time.Second))
		patients[i] = patient{int64(i) + 1, keyOf(patientID), pain.Fold(name)}
		if i == 777_777 {
			m.id = patientID.String()
		}
	}
	m.roster = newRoster(patients)
	return m
})

// BenchmarkSearch searches a million patients. Besides the mean it gives the
// 99th percentile.
func BenchmarkSearch(b *testing.B) {
	patients := million()
	for _, bench := range []struct{ name, term string }{
		{"one letter in nearly all", "a"},
		{"one letter in some", "Q"},
		{"one character in none", "%"},
		{"space", " "},
		{"two letters in many", "an"},
		{"two letters in few", "þ"},
		{"three letters", "ber"},
		{"name", "Catherine Marie"},
		{"accents", "nguyễn"},
		{"Greek", "ΝΊΚΟΣ"},
		{"Cyrillic", "анаста"},
		{"none", "xyzzy"},
		{"none, common letters", "annannanna"},
		{"none, long", strings.Repeat("anna ", 40)},
		{"identifier", patients.id},
		{"identifier's beginning", patients.id[:12]},
		{"all identifiers", "pat_"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				_, total := patients.search(bench.term, 3, 50)
				times = append(times, time.Since(start))
				b.ReportMetric(float64(total), "matches")
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(sizeOf(patients.roster))/1_000_000, "B/patient")
		})
	}
}

// BenchmarkRefresh changes a million patients.
func BenchmarkRefresh(b *testing.B) {
	for _, changes := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("%d names", changes), func(b *testing.B) {
			patients, random := million().roster, rand.New(rand.NewPCG(3, 4))
			for b.Loop() {
				changed := make([]patient, changes)
				for i := range changed {
					changed[i] = patient{random.Int64N(1_000_000) + 1, key{1, 1}, pain.Fold("Renamed " + syllables[random.IntN(len(syllables))])}
				}
				var ok bool
				if patients, ok = patients.with(changed); !ok {
					b.Fatal("the changes do not fit")
				}
			}
		})
	}
}
