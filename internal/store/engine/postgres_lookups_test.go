package engine

import (
	"slices"
	"testing"
)

// Calls of a round with the same arguments are sent once.
func TestRepeatedLookups(t *testing.T) {
	asked := []ask{
		{args: []any{int64(1), "a", []byte("bc")}},
		{args: []any{int64(1), "ab", []byte("c")}},
		{args: []any{int64(1), "a", []byte("bc")}},
		{args: []any{int64(2), "a", []byte("bc")}},
		{sql: "another"},
		{args: []any{int64(1), "ab", []byte("c")}},
		{args: []any{int64(1), "a", []byte("bc")}},
		{args: []any{int64(1), "a", []byte{}}},
	}
	before := []repeated{{9, 8}}
	distinct, again := withoutRepeated(asked, []int{0, 1, 2, 3, 5, 6, 7}, before)
	if want := []int{0, 1, 3, 7}; !slices.Equal(distinct, want) {
		t.Errorf("asks %v, want %v", distinct, want)
	}
	if want := append(before, repeated{2, 0}, repeated{5, 1}, repeated{6, 0}); !slices.Equal(again, want) {
		t.Errorf("repeats %v, want %v", again, want)
	}
}
