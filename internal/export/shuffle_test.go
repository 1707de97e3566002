package export

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
)

// smallShuffle makes shuffles use the temporary file, and buckets of buckets.
func smallShuffle(tb testing.TB, held int, bucket int64) {
	oldHeld, oldBucket := heldBytes, bucketBytes
	heldBytes, bucketBytes = held, bucket
	tb.Cleanup(func() { heldBytes, bucketBytes = oldHeld, oldBucket })
}

func shuffledGroups(t testing.TB, groups []string) (got []string) {
	s := newShuffle(func() (*os.File, error) { return Scratch("") })
	for _, g := range groups {
		if err := s.add([]byte(g)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.drain(func(group string) error { got = append(got, group); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return got
}

// Nothing is lost, whether it fits into memory, into buckets, or into neither.
func TestShuffleKeepsAll(t *testing.T) {
	for _, size := range []struct {
		held   int
		bucket int64
	}{{1 << 20, 1 << 20}, {300, 1 << 20}, {300, 100}, {1, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			smallShuffle(t, size.held, size.bucket)
			var groups []string
			for i := range 3000 {
				groups = append(groups, strings.Repeat(fmt.Sprint(i), 1+i%7))
			}
			got := shuffledGroups(t, groups)
			if slices.Equal(got, groups) {
				t.Error("the order did not change")
			}
			slices.Sort(got)
			slices.Sort(groups)
			if !slices.Equal(got, groups) {
				t.Errorf("%d groups became %d", len(groups), len(got))
			}
		})
	}
}

// Every order is equally likely, also through the temporary file.
func TestShuffleIsFair(t *testing.T) {
	for _, held := range []int{1 << 20, 1} {
		smallShuffle(t, held, 1)
		const rounds, orders = 6000, 24
		counts := map[string]int{}
		for range rounds {
			counts[strings.Join(shuffledGroups(t, []string{"a", "b", "c", "d"}), "")]++
		}
		if len(counts) != orders {
			t.Fatalf("held %d: %d orders, want %d", held, len(counts), orders)
		}
		// Seven standard deviations: this does not fail by chance.
		mean := float64(rounds) / orders
		for order, n := range counts {
			if math.Abs(float64(n)-mean) > 7*math.Sqrt(mean) {
				t.Errorf("held %d: the order %s came %d times of %d, want about %.0f", held, order, n, rounds, mean)
			}
		}
	}
}

// A row is read back as it was written.
func TestShuffledCells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var columns []pain.ColumnType
		var cells []pain.Cell
		for range rapid.IntRange(1, 8).Draw(t, "columns") {
			kind := rapid.SampledFrom([]pain.ColumnType{pain.TextColumn, pain.TextsColumn, pain.NumberColumn, pain.DateColumn, pain.BooleanColumn}).Draw(t, "type")
			columns = append(columns, kind)
			c := pain.Cell{}
			if rapid.Bool().Draw(t, "set") {
				switch c.Set = true; kind {
				case pain.TextColumn:
					c.Text = rapid.String().Draw(t, "text")
				case pain.TextsColumn:
					c.Texts = rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "texts")
				default:
					c.Number = rapid.Float64().Draw(t, "number")
				}
			}
			cells = append(cells, c)
		}
		var b []byte
		for i := range cells {
			b = appendCell(b, columns[i], &cells[i])
		}
		rest, whole := string(b), string(b)
		for i := range cells {
			var got pain.Cell
			var ok bool
			if got, rest, ok = cutCell(rest, columns[i]); !ok || fmt.Sprint(got) != fmt.Sprint(cells[i]) {
				t.Fatalf("cell %d is %v, want %v", i, got, cells[i])
			}
		}
		if rest != "" {
			t.Fatalf("%d bytes are left", len(rest))
		}
		for n := range whole { // a part of a row is not a row
			rest, ok := whole[:n], true
			for i := 0; ok && i < len(cells); i++ {
				_, rest, ok = cutCell(rest, columns[i])
			}
			if ok {
				t.Fatalf("%d of %d bytes are a row", n, len(whole))
			}
		}
	})
}
