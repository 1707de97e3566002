package analytics

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// A closed tally counts all memory that it holds: what is reused for each
// patient is gone, and no list is forgotten.
func TestTalliesCountTheirMemory(t *testing.T) {
	for name, r := range map[string]Request{"plain": {}, "by day": {Interval: "day"}, "adjusted": {Adjust: "case_mix"}} {
		t.Run(name, func(t *testing.T) {
			p := ask(t, r)
			rapid.Check(t, func(rt *rapid.T) {
				outcomes, population := NewOutcomesTally(p), NewPopulationTally(p)
				for _, patient := range roll(rt).patients(60) {
					outcomes.Add(patient)
					population.Add(patient)
				}
				outcomes.Close()
				population.Close()
				if got, want := outcomes.Bytes(), held(t, reflect.ValueOf(outcomes)); got != want {
					t.Errorf("outcomes: %d bytes, want %d", got, want)
				}
				if got, want := population.Bytes(), held(t, reflect.ValueOf(population)); got != want {
					t.Errorf("population: %d bytes, want %d", got, want)
				}
			})
		})
	}
}

// held returns the memory to which a value refers.
func held(t *testing.T, v reflect.Value) (bytes int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*Params]() {
			return 0
		}
		return int64(v.Type().Elem().Size()) + held(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += held(t, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			bytes = int64(v.Cap()) * int64(v.Type().Elem().Size())
		}
		for i := range v.Len() {
			bytes += held(t, v.Index(i))
		}
	case reflect.String: // of the parameters
	case reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		if !v.IsNil() {
			t.Fatalf("a %s, whose memory is unknown", v.Type())
		}
	}
	return bytes
}
