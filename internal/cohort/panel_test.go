package cohort

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// made returns a member with some data of each kind, determined by n.
func made(no int64, n int) member {
	day := func(n int) int64 { return int64(n) * 24 * 3_600_000 }
	p := &panel{heads: []head{{born: drug.Day(n), gender: analytics.Gender(n % 4), here: true}}}
	for i := range n % 4 {
		p.codes.items = append(p.codes.items, fmt.Sprint("M", n, i))
		p.last.Scores = append(p.last.Scores, series.Score{At: day(n + i), Value: 3}, series.Score{At: day(n + i), Kind: series.Kind{Scale: 1, Aspect: series.Average}, Value: 3})
		p.last.Medications = append(p.last.Medications, series.Medication{Class: series.ClassOf(drug.Opioid), MME: float64(n), Prescriber: uint32(n)})
	}
	for i := range n % 3 {
		p.last.Assessments = append(p.last.Assessments, series.Assessment{At: day(n + i)})
		p.last.Procedures = append(p.last.Procedures, series.Procedure{At: day(n + i)})
		p.last.Impacts = append(p.last.Impacts, series.Impact{At: day(n + i), Asks: series.Limits, Level: series.MostDays})
		p.last.Screens = append(p.last.Screens, drug.Day(n+i))
	}
	p.closeCodes()
	p.closeSeries()
	return member{no, p, 0}
}

// describe says what a slot holds.
func describe(p *panel, slot int) string {
	c := newChart()
	p.open(slot, c)
	p.read(slot, c)
	c.gist.Shelf = nil // it is the head's
	return fmt.Sprint(p.heads[slot], c.Born, c.Gender, strings.Join(c.Codes, " "), c.gist)
}

//test:norace
func TestPanelsTakeChangesAndLeaveTheOldOnesAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	type version struct {
		panels []*panel
		want   []string
	}
	var now version
	var versions []version
	for range 50 {
		var changed []member
		want := slices.Clone(now.want)
		change := func(no int64) {
			m := made(no, random.IntN(1000))
			changed = append(changed, m, m) // twice, as it may come
			if int(no) > len(want) {
				want = append(want, "")
			}
			want[no-1] = describe(m.in, 0)
		}
		numbers := map[int64]bool{}
		for range random.IntN(5) {
			if len(want) > 0 {
				numbers[1+random.Int64N(int64(len(want)))] = true
			}
		}
		for no := range numbers {
			change(no)
		}
		for range random.IntN(60) {
			change(int64(len(want)) + 1)
		}
		random.Shuffle(len(changed), func(i, j int) { changed[i], changed[j] = changed[j], changed[i] })
		panels, ok := withChanges(now.panels, changed, panelSize, func() *panel { return &panel{} })
		if !ok {
			t.Fatal("refused")
		}
		now = version{panels, want}
		versions = append(versions, now)
	}
	if len(now.panels) < 2 {
		t.Fatalf("%d patients do not make a second panel", len(now.want))
	}
	described := map[*panel][]string{} // versions share what did not change
	for i, v := range versions {
		var got []string
		for _, p := range v.panels {
			if described[p] == nil {
				for slot := range p.heads {
					described[p] = append(described[p], describe(p, slot))
				}
			}
			got = append(got, described[p]...)
		}
		if !slices.Equal(got, v.want) {
			t.Fatalf("version %d is not what it was when it was made", i)
		}
	}
}

func TestPanelsShareWhatDidNotChange(t *testing.T) {
	var members []member
	for no := range int64(panelSize + 10) {
		members = append(members, made(no+1, int(no)))
	}
	empty := func() *panel { return &panel{} }
	before, _ := withChanges(nil, members, panelSize, empty)
	same, _ := withChanges(before, []member{made(4, 3), made(panelSize+4, panelSize+3)}, panelSize, empty)
	if same[0] != before[0] || same[1] != before[1] {
		t.Error("panels were packed again although nothing in them changed")
	}
	other, _ := withChanges(before, []member{made(4, 7)}, panelSize, empty)
	if other[0] == before[0] || other[1] != before[1] {
		t.Error("a change must change its own panel and no other")
	}
	if _, ok := withChanges(before, []member{made(panelSize+12, 1)}, panelSize, empty); ok {
		t.Error("a number was left out, and nobody noticed")
	}
}

// TestEveryColumnIsCounted fails when a panel gets a column that columns leaves
// out: it would be in no copy, and not in the memory that is counted.
func TestEveryColumnIsCounted(t *testing.T) {
	t.Parallel()
	p := &panel{}
	all := p.columns()
	columns := 0
	for _, field := range reflect.VisibleFields(reflect.TypeFor[panel]()) {
		of := reflect.ValueOf(p).Elem().FieldByIndex(field.Index)
		if !strings.HasPrefix(field.Type.Name(), "column[") {
			continue
		}
		columns++
		if !slices.ContainsFunc(all[:], func(c anyColumn) bool { return reflect.ValueOf(c).Pointer() == of.Addr().Pointer() }) {
			t.Errorf("%s is not among the columns", field.Name)
		}
	}
	if columns != len(all) {
		t.Errorf("%d columns, %d are listed", columns, len(all))
	}
}
