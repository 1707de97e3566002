package cohort

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
)

func TestIdentifierPrefix(t *testing.T) {
	const apart = 20 // numbers without a patient are between, for several chunks
	var patients []patient
	var printed []string
	for i := range 500 {
		// In steps that change different parts of the time, sorted from chunk
		// to chunk at most.
		at := time.UnixMilli(1_700_000_000_000 + int64(i*7919%500)*int64(i%3)*40_000 + int64(i/200)*15_000_000)
		patientID := id.New[id.PatientKind](at)
		patients = append(patients, patient{int64(i)*apart + 1, keyOf(patientID), "", 1})
		for len(patients)%apart > 0 {
			patients = append(patients, patient{no: int64(len(patients)) + 1})
		}
		printed = append(printed, patientID.String())
	}
	r := newRoster(patients)
	terms := []string{"pat_", "pat_0", "pat_7", "pat_7zzzzzzzzzzzzzzzzzzzzzzzzz", "pat_00000000000000000000000000",
		"pat_8", "pat_z", "pat_i", "pat_0o", "pat_01U", "pat_%", "pat_ ", "pat_é", "pat_\x00", printed[7] + "0", strings.ToUpper(printed[7][4:])}
	for i := 0; i < len(printed); i += 31 {
		p := printed[i]
		for length := len("pat_"); length <= len(p); length++ {
			terms = append(terms, p[:length], p[:length]+"z", p[:length]+"0")
		}
	}
	for _, term := range terms {
		var want []int64
		for i, p := range printed {
			if strings.HasPrefix(p, term) {
				want = append(want, int64(i)*apart+1)
			}
		}
		for _, on := range []struct{ page, limit int }{{1, 1000}, {1, 10}, {25, 10}, {41, 10}} {
			from, to := min((on.page-1)*on.limit, len(want)), min(on.page*on.limit, len(want))
			if got, total := r.search(term, int64(on.page), int64(on.limit)); !slices.Equal(got, want[from:to]) || total != int64(len(want)) {
				t.Errorf("%q, page %d: found %v (%d), want %v", term, on.page, got, total, want[from:to])
			}
		}
	}
}

// A number without a patient is in no answer.
func TestNumberWithoutPatient(t *testing.T) {
	r := newRoster([]patient{{1, key{1, 1}, "anna", 1}, {2, key{}, "", 0}, {3, key{1, 3}, "hanna", 1}})
	for _, term := range []string{"anna", "pat_", "\u0301"} {
		if got, total := r.search(term, 1, 10); !slices.Equal(got, []int64{1, 3}) || total != 2 {
			t.Errorf("%q: found %v (%d), want 1 and 3", term, got, total)
		}
	}
	if got, _ := r.search("pat_00000000000000000000000000", 1, 10); len(got) > 0 {
		t.Errorf("the zero identifier found %v", got)
	}
}

func TestPages(t *testing.T) {
	const matches = chunkSize + 7
	r := newRoster(numbered(1, matches))
	for _, term := range []string{"name", "pat_"} {
		for _, test := range []struct{ page, limit, first, last int64 }{
			{1, 50, 1, 50},
			{2, 50, 51, 100},
			{82, 50, 4051, 4100}, // over the border of two chunks
			{83, 50, 4101, matches},
			{84, 50, 0, -1},
			{2147483647, 100, 0, -1},
			{1, 1, 1, 1},
			{chunkSize, 1, chunkSize, chunkSize},
			{chunkSize + 1, 1, chunkSize + 1, chunkSize + 1},
		} {
			var want []int64
			for no := test.first; no <= test.last; no++ {
				want = append(want, no)
			}
			if got, total := r.search(term, test.page, test.limit); !slices.Equal(got, want) || total != matches {
				t.Errorf("%q page %d of %d: %v (total %d)", term, test.page, test.limit, got, total)
			}
		}
	}
}
