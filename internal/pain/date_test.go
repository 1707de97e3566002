package pain

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	for _, s := range []string{"0001-01-01", "1900-02-28", "2000-02-29", "2024-02-29", "2025-12-31", "9999-12-31"} {
		d, err := ParseDate(s)
		if err != nil || d.String() != s {
			t.Errorf("ParseDate(%q) = %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "2025", "2025-02-30", "1900-02-29", "2025-04-31", "2025-00-01", "2025-13-01", "2025-01-00", "0000-01-01",
		"2025-1-01", "2025-01-1", "25-01-01", "2025/01/01", " 2025-01-01", "2025-01-01 ", "2025-01-01T00:00:00Z", "+025-01-01", "２025-01-1", "2025-0a-01"} {
		if d, err := ParseDate(s); err != ErrDate || d != (Date{}) {
			t.Errorf("ParseDate(%q) = %v, %v", s, d, err)
		}
	}
}

func TestDateBefore(t *testing.T) {
	days := []string{"1999-12-31", "2000-01-01", "2000-01-02", "2000-02-01", "2001-01-01"}
	for i, a := range days {
		for j, b := range days {
			x, _ := ParseDate(a)
			y, _ := ParseDate(b)
			if x.Before(y) != (i < j) || (x == y) != (i == j) {
				t.Errorf("%s before %s: %v", a, b, x.Before(y))
			}
		}
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		born, on string
		want     int
	}{
		{"1960-05-17", "2025-05-16", 64},
		{"1960-05-17", "2025-05-17", 65},
		{"1960-05-17", "2025-06-01", 65},
		{"1960-05-17", "2025-04-30", 64},
		{"1960-02-29", "2025-02-28", 64},
		{"1960-02-29", "2025-03-01", 65},
		{"2025-05-17", "2025-05-17", 0},
	} {
		born, _ := ParseDate(c.born)
		on, _ := ParseDate(c.on)
		if got := born.Age(on); got != c.want {
			t.Errorf("born %s, on %s: %d, want %d", c.born, c.on, got, c.want)
		}
	}
}

func TestDateOf(t *testing.T) {
	if d := DateOf(testNow); d != (Date{2026, time.March, 2}) {
		t.Fatalf("got %v, want the day in UTC", d)
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"", "2024-02-29", "2025-02-29", "0000-01-01", "2025-1-1", "2025-01-01T"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDate(s)
		at, wantErr := time.Parse(time.DateOnly, s)
		if wantErr == nil && at.Year() < 1 {
			wantErr = ErrDate
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("ParseDate(%q): %v, time.Parse: %v", s, err, wantErr)
		}
		if err == nil && (d != DateOf(at) || d.String() != s) {
			t.Fatalf("ParseDate(%q) = %v", s, d)
		}
	})
}
