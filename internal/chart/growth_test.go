package chart

import (
	"math"
	"testing"
)

// On axes by powers of ten a step is as long as its power, wherever it is.
func TestGrowthIsByPowersOfTen(t *testing.T) {
	c := &Growth{"Cost", "patients", "µs", []GrowthLine{
		{"level", []GrowthPoint{{1e3, 20}, {1e4, 20}, {1e6, 20}}},
		{"tenfold", []GrowthPoint{{1e3, 20}, {1e4, 200}, {1e6, 20_000}}},
	}}
	s := c.Draw(frames[0])
	has(t, drawn(c), "level", "tenfold", "patients", "µs", "1,000", "10,000", "1,000,000", "10", "100,000")
	var lines [][]point
	for _, it := range s.items {
		if len(it.paths) == 1 && len(it.paths[0]) == 3 && !it.closed {
			lines = append(lines, it.paths[0])
		}
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2", len(lines))
	}
	if l := lines[0]; l[0].y != l[1].y || l[1].y != l[2].y {
		t.Errorf("what costs the same is not level: %v", l)
	}
	l := lines[1]
	first, second := point{l[1].x - l[0].x, l[1].y - l[0].y}, point{l[2].x - l[1].x, l[2].y - l[1].y}
	if math.Abs(second.x-2*first.x) > 0.01 || math.Abs(second.y-2*first.y) > 0.01 || first.y >= 0 {
		t.Errorf("ten times is %v, a hundred times %v", first, second)
	}
}

func TestGrowthTableHasEverySize(t *testing.T) {
	c := &Growth{"Cost", "patients", "µs", []GrowthLine{{"a", []GrowthPoint{{1e3, 20}, {1e5, 30}}}, {"b", []GrowthPoint{{1e4, 2.5}}}}}
	header, rows := c.Table()
	want := [][]string{{"µs", "1,000", "10,000", "100,000"}, {"a", "20", "", "30"}, {"b", "", "2.5", ""}}
	for i, row := range append([][]string{header}, rows...) {
		for k := range row {
			if row[k] != want[i][k] {
				t.Errorf("row %d is %q, want %q", i, row, want[i])
			}
		}
	}
}
