package clients

import "testing"

// Every threshold has its own bit.
func TestEveryThresholdHasABit(t *testing.T) {
	t.Parallel()
	bits := int64(0)
	for _, bit := range quotaBits {
		if bit == 0 || bits&bit != 0 {
			t.Errorf("two thresholds share the bit %d", bit)
		}
		bits |= bit
	}
}
