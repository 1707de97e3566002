package dictionary

import "testing"

func TestListed(t *testing.T) {
	for _, c := range []struct {
		ingredient string
		mg         float64
		want       bool
	}{
		{"oxycodone", 5, true}, {"Oxycodone", 80, true}, {"oxycodone", 325, false}, {"oxycodone", 7, false},
		{"morphine", 100, true}, {"morphine", 101, false}, {"methadone", 10, true}, {"no such thing", 3, true},
	} {
		if got := Listed(c.ingredient, c.mg); got != c.want {
			t.Errorf("%s %v mg: %v", c.ingredient, c.mg, got)
		}
	}
}
