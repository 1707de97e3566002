package patients

import "testing"

func TestCountsAreReadAsTheyAreWritten(t *testing.T) {
	change := recordCounts{{slot: 4095, n: 6}, {slot: 34, n: 99_999}, {slot: 5, n: -2}, {slot: 34, n: 1}, {slot: 4095, n: 1}}.summed()
	packed, err := addCounts([]byte("2 1 5 2"), change)
	if err != nil || packed != "2 1 34 100000 4095 7" {
		t.Errorf("%q, error %v", packed, err)
	}
	counts := map[slot]int64{2: 1, 34: 100_000, 4095: 7}
	if err := eachCount([]byte(packed), func(s slot, n int64) {
		if counts[s] != n {
			t.Errorf("slot %d has %d", s, n)
		}
		delete(counts, s)
	}); err != nil || len(counts) > 0 {
		t.Errorf("%v is left, error %v", counts, err)
	}
	for _, bad := range []string{"x", "1", "1 ", "1 2 ", " 1 2", "1  2", "1 2 3", "1 -2", "1 2,3 4"} {
		if err := eachCount([]byte(bad), func(slot, int64) {}); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if err := eachCount(nil, func(slot, int64) { t.Error("something was read of nothing") }); err != nil {
		t.Error(err)
	}
}
