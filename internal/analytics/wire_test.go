package analytics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// notSent are the fields of tallies that are no counts: they follow from the
// parameters, are used while patients are added, or hold the result.
var notSent = map[string]bool{
	"OutcomesTally.params": true, "OutcomesTally.filter": true, "OutcomesTally.window": true, "OutcomesTally.windowAt": true, "OutcomesTally.period": true,
	"OutcomesTally.calendar": true, "OutcomesTally.bornBy": true, "OutcomesTally.stretch": true, "OutcomesTally.own": true, "OutcomesTally.elsewhere": true,
	"OutcomesTally.printed": true, "OutcomesTally.figures": true,
	"PopulationTally.params": true, "PopulationTally.filter": true, "PopulationTally.period": true, "PopulationTally.year": true, "PopulationTally.bornBy": true,
	"PopulationTally.own": true, "PopulationTally.scores": true, "PopulationTally.drugs": true, "PopulationTally.printed": true, "PopulationTally.figures": true,
	"alignedTally.period": true, "alignedTally.window": true, "alignedTally.adultBy": true, "alignedTally.usage": true,
	"opioidTally.possible": true, "doses.own": true,
}

// fields calls each with every field below v that is sent, and its path.
// Pointers and lists must have been made.
func fields(path string, v reflect.Value, each func(path string, v reflect.Value)) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // also if it is not exported
	switch {
	case v.Type() == reflect.TypeFor[doses]():
		each(path, v)
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			fields(path, v.Elem(), each)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Name() + "." + v.Type().Field(i).Name; !notSent[name] {
				fields(path+"."+v.Type().Field(i).Name, v.Field(i), each)
			}
		}
	case v.Kind() == reflect.Array || v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fields(fmt.Sprintf("%s[%d]", path, i), v.Index(i), each)
		}
	default:
		each(path, v)
	}
}

// fill gives every field another value.
func fill(tally any) (count int) {
	random := rand.New(rand.NewPCG(5, 6))
	fields("", reflect.ValueOf(tally).Elem(), func(path string, v reflect.Value) {
		count++
		switch p := v.Addr().Interface().(type) {
		case *doses:
			for range 3 {
				for range 1 + random.IntN(9) {
					p.add(math.Round(20*random.Float64()) / 3)
				}
				p.close()
			}
		default:
			switch v.Kind() {
			case reflect.Int, reflect.Int32, reflect.Int64:
				v.SetInt(random.Int64N(1<<31-1) * int64(1-2*random.IntN(2)))
			case reflect.Uint64:
				v.SetUint(random.Uint64())
			case reflect.Float64:
				v.SetFloat(random.NormFloat64())
			default:
				panic(path + " has a type that is not sent: " + v.Type().String())
			}
		}
	})
	return count
}

type sentTally interface {
	Encode() []byte
	Decode([]byte) error
}

// Every count arrives, also one that somebody adds later.
func TestEveryCountIsSent(t *testing.T) {
	for _, request := range []Request{{}, {Interval: "day", Adjust: "case_mix", StartDate: "2015-01-01"}} {
		p := ask(t, request)
		for _, empty := range []func() sentTally{func() sentTally { return NewOutcomesTally(p) }, func() sentTally { return NewPopulationTally(p) }} {
			from, to := empty(), empty()
			if count := fill(from); count < 300 {
				t.Fatalf("%T has %d fields", from, count)
			}
			sent := from.Encode()
			if err := to.Decode(sent); err != nil {
				t.Fatal(err)
			}
			arrived := map[string]any{}
			fields("", reflect.ValueOf(to).Elem(), func(path string, v reflect.Value) { arrived[path] = v.Interface() })
			fields("", reflect.ValueOf(from).Elem(), func(path string, v reflect.Value) {
				if !reflect.DeepEqual(v.Interface(), arrived[path]) {
					t.Errorf("%T%s: %v arrived, want %v", from, path, arrived[path], v)
				}
			})
			for _, size := range []int{0, 1, len(sent) / 2, len(sent) - 1} {
				if empty().Decode(sent[:size]) == nil {
					t.Errorf("%T: %d of %d bytes were accepted", from, size, len(sent))
				}
			}
			if empty().Decode(append(slices.Clone(sent), 0)) == nil {
				t.Errorf("%T: a byte too many was accepted", from)
			}
		}
	}
}

func TestTallyOfOtherParametersIsRefused(t *testing.T) {
	short, long := ask(t, Request{}), ask(t, Request{StartDate: "2015-01-01"})
	if err := NewOutcomesTally(long).Decode(NewOutcomesTally(short).Encode()); err == nil {
		t.Error("the counts of a shorter period were accepted")
	}
}

// However patients are divided, and wherever their tallies come from, the
// result is that of all together.
func TestDividedIsWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		all, p := random.patients(60), ask(t, random.request())
		packed, err := p.Pack()
		if err != nil {
			rt.Fatal(err)
		}
		theirs, err := UnpackParams(packed)
		if err != nil {
			rt.Fatal(err)
		}
		outcomes, population := NewOutcomesTally(p), NewPopulationTally(p)
		parts := make([][]*Patient, 1+random.IntN(6))
		for _, one := range all {
			i := random.IntN(len(parts))
			parts[i] = append(parts[i], one)
		}
		for _, part := range parts {
			theirOutcomes, theirPopulation := outcomesTally(theirs, part), populationTally(theirs, part)
			theirOutcomes.Close()
			theirPopulation.Close()
			ours, alsoOurs := NewOutcomesTally(p), NewPopulationTally(p)
			if err := ours.Decode(theirOutcomes.Encode()); err != nil {
				rt.Fatal(err)
			}
			if err := alsoOurs.Decode(theirPopulation.Encode()); err != nil {
				rt.Fatal(err)
			}
			outcomes.Merge(ours)
			population.Merge(alsoOurs)
		}
		wholeOutcomes, wholePopulation := outcomesTally(p, all), populationTally(p, all)
		wholePopulation.Close()
		for _, pair := range [][2]any{{outcomes.Result(now), wholeOutcomes.Result(now)}, {population.Result(now), wholePopulation.Result(now)}} {
			if got, want := printedResult(rt, pair[0]), printedResult(rt, pair[1]); got != want {
				rt.Fatalf("in %d parts\n%s\ntogether\n%s", len(parts), got, want)
			}
		}
	})
}

func printedResult(t *rapid.T, result any) string {
	b, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Another node gets the same parameters.
func TestParametersArrive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for p := ask(t, roll(rt).request()); p != nil; p = p.Earlier() {
			packed, err := p.Pack()
			if err != nil {
				rt.Fatal(err)
			}
			if got, err := UnpackParams(packed); err != nil || !reflect.DeepEqual(got, p) {
				rt.Fatalf("%+v arrived as %+v; %v", p, got, err)
			}
		}
	})
}
