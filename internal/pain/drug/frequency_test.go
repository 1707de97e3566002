package drug

import (
	"math"
	"testing"
)

func TestPerDay(t *testing.T) {
	for text, want := range map[string][2]float64{
		"QD": {1, 1}, "qhs": {1, 1}, "QAM": {1, 1}, "BID": {2, 2}, "b.i.d.": {2, 2}, " Twice  daily ": {2, 2}, "TID": {3, 3}, "t.i.d.": {3, 3}, "QID": {4, 4},
		"QOD": {0.5, 0.5}, "every other day": {0.5, 0.5}, "weekly": {1.0 / 7, 1.0 / 7}, "once weekly": {1.0 / 7, 1.0 / 7}, "Q7D": {1.0 / 7, 1.0 / 7},
		"Q3H": {8, 8}, "Q4H": {6, 6}, "q 6 h": {4, 4}, "Q8H": {3, 3}, "Q12H": {2, 2}, "q24h": {1, 1}, "Q72H": {1.0 / 3, 1.0 / 3}, "q48 hours": {0.5, 0.5},
		"every 8 hours": {3, 3}, "every 4 to 6 hours": {4, 6}, "q4-6h": {4, 6}, "q4–6h prn": {4, 6}, "Q4-6H as needed": {4, 6}, "q6-4h": {4, 6},
		"3 times a day": {3, 3}, "3x daily": {3, 3}, "1-2 times daily": {1, 2}, "every 3 days": {1.0 / 3, 1.0 / 3}, "twice weekly": {2.0 / 7, 2.0 / 7},
		"daily (prn)": {1, 1}, "BD": {2, 2}, "tds": {3, 3}, "t.d.s.": {3, 3}, "QDS prn": {4, 4}, "nocte": {1, 1}, "mane": {1, 1},
	} {
		fewest, most, ok := PerDay(text)
		if !ok || math.Abs(fewest-want[0]) > 1e-12 || math.Abs(most-want[1]) > 1e-12 {
			t.Errorf("%q: %v to %v, %v", text, fewest, most, ok)
		}
	}
	for _, text := range []string{"", "prn", "as directed", "q0h", "every 0 days", "q999h", "90 times a day", "with meals", "od", "q", "qh", "bid tid", "every few hours", "ac", "not daily"} {
		if fewest, most, ok := PerDay(text); ok {
			t.Errorf("%q: %v to %v", text, fewest, most)
		}
	}
}
