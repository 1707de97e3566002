package cohort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
)

var (
	givenNames = []string{"Anna", "José", "Zoë", "Łukasz", "Søren", "Mária", "François", "Ivan", "Νίκος", "Анастасия", "Mohammed", "Siobhán", "Nguyễn", "Işıl", "Peter", "Maria", "Catherine", "Wei", "Jürgen", "Olga"}
	middle     = []string{"", "", "", " A.", " van der", " de la", " Marie", " bin", " O'", " J."}
	syllables  = []string{"ber", "ga", "mann", "son", "ko", "vić", "lin", "sen", "ros", "tei", "ner", "hu", "mar", "tín", "øy", "wal", "sch", "mid", "ova", "ski", "qui", "zu", "fer", "nán"}
)

// newRoster packs patients without a database.
func newRoster(patients []patient) roster {
	r := rosterOf(patients)
	for i, c := range r {
		r[i] = c.fit()
	}
	return r
}

// search lists the patients that match a term, oldest first.
func (r roster) search(term string, page, limit int64) ([]int64, int64) {
	return r.list(Query{Term: term, Page: page, Limit: limit})
}

// people are synthetic patients without a database.
type people struct {
	roster
	id string // of one of them
}

func newPeople(count int) people {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	patients := make([]patient, count)
	var one id.Patient
	for i := range patients {
		name := pick(givenNames) + pick(middle) + " "
		for range 2 + random.IntN(3) {
			name += pick(syllables)
		}
		patientID := id.New[id.PatientKind](at.Add(time.Duration(i) * time.Second))
		patients[i] = patient{int64(i) + 1, keyOf(patientID), pain.Fold(name), born(1 + random.IntN(30_000))}
		if i == count*7/9 {
			one = patientID
		}
	}
	return people{newRoster(patients), one.String()}
}

var million = sync.OnceValue(func() people { return newPeople(1_000_000) })

// BenchmarkSearch searches a thousand to a million patients. It also reports
// the 99th percentile.
func BenchmarkSearch(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000, 1_000_000} {
		patients := newPeople(count)
		for _, bench := range []struct{ name, term string }{
			{"one letter in nearly all", "a"},
			{"one letter in some", "Q"},
			{"one character in none", "%"},
			{"space", " "},
			{"two letters in many", "an"},
			{"two letters in few", "þ"},
			{"three letters", "ber"},
			{"name", "Catherine Marie"},
			{"whole name", string(patients.roster[len(patients.roster)/2].name(100))},
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
			b.Run(fmt.Sprintf("%s/%d", bench.name, count), func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					start := time.Now()
					_, total := patients.search(bench.term, 3, 50)
					times = append(times, time.Since(start))
					b.ReportMetric(float64(total), "matches")
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(float64(sizeOf(patients.roster))/float64(count), "B/patient")
			})
		}
	}
}

// BenchmarkPack packs a full chunk, as the first search does with all of them.
func BenchmarkPack(b *testing.B) {
	full := newPeople(chunkSize).roster[0]
	for b.Loop() {
		full.fit()
	}
}

// BenchmarkBurst adds or renames one of many patients before each search, which
// finds few.
func BenchmarkBurst(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000, 1_000_000} {
		before, random := newPeople(count).roster, rand.New(rand.NewPCG(3, 4))
		newName := func() string {
			return pain.Fold(givenNames[random.IntN(len(givenNames))] + " " + syllables[random.IntN(len(syllables))] + syllables[random.IntN(len(syllables))])
		}
		for _, bench := range []struct {
			name string
			next func(done int) patient
		}{
			{"add", func(done int) patient {
				return patient{int64(count + done + 1), key{1, uint64(done + 1)}, newName(), 1}
			}},
			{"rename", func(int) patient { return patient{random.Int64N(int64(count)) + 1, key{1, 1}, newName(), 1} }},
		} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, count), func(b *testing.B) {
				patients, done, ok := before, 0, true
				for b.Loop() {
					if patients, ok = patients.with([]patient{bench.next(done)}); !ok {
						b.Fatal("the change does not fit")
					}
					patients.search("xyzzy", 1, 50)
					done++
				}
			})
		}
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
					changed[i] = patient{random.Int64N(1_000_000) + 1, key{1, 1}, pain.Fold("Renamed " + syllables[random.IntN(len(syllables))]), 1}
				}
				var ok bool
				if patients, ok = patients.with(changed); !ok {
					b.Fatal("the changes do not fit")
				}
			}
		})
	}
}
