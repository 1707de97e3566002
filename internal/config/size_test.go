package config

import (
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, test := range []struct {
		text string
		want Size
		out  string
	}{
		{"0", 0, "0"}, {"1000000", 1000000, "1000000"}, {"1025B", 1025, "1025"}, {"64KiB", 64 << 10, "64KiB"}, {"268435456", 256 << 20, "256MiB"}, {"256MiB", 256 << 20, "256MiB"},
		{"1024MiB", 1 << 30, "1GiB"}, {"4GiB", 4 << 30, "4GiB"}, {"2TiB", 2 << 40, "2TiB"}, {"9223372036854775807", 1<<63 - 1, "9223372036854775807"},
	} {
		var got Size
		if err := got.Set(test.text); err != nil || got != test.want || got.String() != test.out {
			t.Errorf("%s: %d (%s), %v", test.text, got, &got, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5GiB", "256M", "256MB", "256 MiB", "8388608TiB", "9223372036854775808", "0x10"} {
		got := Size(7)
		if err := got.Set(text); err == nil || !strings.Contains(err.Error(), "256MiB") || got != 7 {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
