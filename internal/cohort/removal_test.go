package cohort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// listed is a patient as the model of the next test knows it.
type listed struct {
	no   int64
	id   id.Patient
	name string
}

// After any creations, changes and merges, totals, all pages and searches are
// those of a plain list, on every node.
func TestListsWithHoles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		random := rand.New(rand.NewPCG(15, 16))
		kept := newHospital(t, open(), "general", New(plenty, nil))
		other := newHospital(t, open(), "general", New(plenty, nil))
		nodes := []hospital{kept, other, {kept.Org, kept.no, New(0, nil)}}
		var model []listed
		created := int64(0)
		words := []string{"Anna", "Åsa", "Berta", "Cleo"}
		for round := range 160 {
			node := nodes[random.IntN(len(nodes))]
			switch what := random.IntN(10); {
			case what < 6 || len(model) < 2:
				name := words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
				created++
				model = append(model, listed{created, storetest.AddPatient(t, node.Org, name).ID, name})
			case what < 7:
				p := &model[random.IntN(len(model))]
				p.name = words[random.IntN(len(words))] + " Dove"
				node.rename(t, p.id, p.name)
			default:
				from := random.IntN(len(model))
				if what == 9 {
					from = len(model) - 1 // the highest number
				}
				into := (from + 1 + random.IntN(len(model)-1)) % len(model)
				if err := storetest.Merge(t.Context(), node.Org, model[from].id, model[into].id); err != nil {
					t.Fatal(err)
				}
				model = slices.Delete(model, from, from+1)
			}
			if round%4 == 0 {
				for i, node := range nodes {
					node.compare(t, fmt.Sprintf("round %d, node %d", round, i), model, words[random.IntN(len(words))])
				}
			}
		}
		storetest.Clean(t, open())
	})
}

// compare compares all pages at several limits, and a search, with the model.
func (h hospital) compare(t *testing.T, when string, model []listed, term string) {
	t.Helper()
	for _, limit := range []int64{1, 7, 100} {
		pages := int64(len(model))/limit + 2
		for page := int64(1); page <= pages; page += 1 + pages/8 {
			var got []int64
			total, err := h.PatientPage(t.Context(), page, limit, func(item patients.PatientItem) { got = append(got, item.No) })
			first := min(int64(len(model)), (page-1)*limit)
			want := numbersIn(model[first:min(int64(len(model)), first+limit)])
			if err != nil || total != int64(len(model)) || !slices.Equal(got, want) {
				t.Fatalf("%s: page %d of %d: %v of %d, %v; want %v of %d", when, page, limit, got, total, err, want, len(model))
			}
			got = nil
			total, err = h.LatestPatients(t.Context(), page, limit, func(item patients.PatientItem) { got = append(got, item.No) })
			last := max(0, int64(len(model))-(page-1)*limit)
			want = numbersIn(model[max(0, last-limit):last])
			slices.Reverse(want)
			if err != nil || total != int64(len(model)) || !slices.Equal(got, want) {
				t.Fatalf("%s: page %d of %d, latest first: %v of %d, %v; want %v of %d", when, page, limit, got, total, err, want, len(model))
			}
		}
	}
	var found []listed
	for _, p := range model {
		if strings.Contains(pain.Fold(p.name), pain.Fold(term)) {
			found = append(found, p)
		}
	}
	for page := int64(1); page <= 3; page++ {
		first := min(len(found), int(page-1)*5)
		want := numbersIn(found[first:min(len(found), first+5)])
		if got, total := h.search(t, term, page, 5); !slices.Equal(got, want) || total != int64(len(found)) {
			t.Fatalf("%s: search for %s, page %d: %v of %d, want %v of %d", when, term, page, got, total, want, len(found))
		}
	}
	for _, order := range []Order{OldestFirst, LatestFirst, ByName, ByNameDown} {
		numbers, total, err := h.cohorts.List(t.Context(), h.Org, Query{Order: order, Page: 1, Limit: 1000})
		want := numbersIn(model)
		slices.Sort(numbers)
		if err != nil || total != int64(len(model)) || !slices.Equal(numbers, want) {
			t.Fatalf("%s: in the order of %s: %v of %d, %v; want %v", when, order, numbers, total, err, want)
		}
	}
	if _, total := h.search(t, "pat_", 1, 1); total != int64(len(model)) {
		t.Fatalf("%s: %d identifiers, want %d", when, total, len(model))
	}
}

func numbersIn(list []listed) (numbers []int64) {
	for _, p := range list {
		numbers = append(numbers, p.no)
	}
	return numbers
}
