package alert

import "testing"

// Each case has prescriptions, and the states that are and are not valid for
// them.
func TestFitsAndReached(t *testing.T) {
	for _, tt := range []struct {
		name, active, ever string
		s                  Standing
		fits, reached      bool
	}{
		{"nothing", "", "", Standing{Day: 5, Next: Never}, true, true},
		{"alerted", "60 1-9", "", Standing{Day: 5, Level: 50, Next: Never}, true, true},
		{"not alerted", "60 1-9", "", Standing{Day: 5, Next: Never}, false, true},
		{"alerted too little", "95 1-9", "", Standing{Day: 5, Level: 50, Next: Never}, false, true},
		{"alerted too much", "60 1-9", "", Standing{Day: 5, Level: 90, Next: Never}, true, false},
		{"ran out", "60 1-4", "", Standing{Day: 5, Level: 50, Next: Never}, true, true},
		{"taken back", "", "60 1-9", Standing{Day: 5, Level: 50, Next: Never}, true, true},
		{"never was", "", "", Standing{Day: 5, Level: 50, Next: Never}, true, false},
		{"begins later", "60 7-9", "", Standing{Day: 5, Next: 7}, true, true},
		{"begins later, and nobody will look", "60 7-9", "", Standing{Day: 5, Next: Never}, false, true},
		{"overlap", "10 1-9, benzo 3-6", "", Standing{Day: 5, Overlap: true, Next: Never}, true, true},
		{"overlap not alerted", "10 1-9, benzo 3-6", "", Standing{Day: 5, Next: Never}, false, true},
		{"stopped later, of a day before", "60 1-9", "60 1-9, 60 5-9, open 2-2", Standing{Day: 5, Level: 90, Next: Never}, true, true},
		{"it was assumed then", "open 1-1", "", Standing{Day: 80, Level: 50, Next: Never}, true, true},
		{"an early refill waits", "60r 1-30, 60r 25-54", "", Standing{Day: 26, Level: 50, Next: 31}, true, true},
		{"an early refill counted at once", "60r 1-30, 60r 25-54", "", Standing{Day: 26, Level: 50, Next: Never}, false, true},
		{"overlap that never was", "10 1-4, benzo 5-6", "", Standing{Day: 5, Overlap: true, Next: Never}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			active := prescribed(t, tt.active)
			ever := active
			if tt.ever != "" {
				ever = prescribed(t, tt.ever)
			}
			if fits, reached := tt.s.Fits(active), tt.s.Reached(ever); fits != tt.fits || reached != tt.reached {
				t.Errorf("fits %v, reached %v; want %v and %v", fits, reached, tt.fits, tt.reached)
			}
		})
	}
}
