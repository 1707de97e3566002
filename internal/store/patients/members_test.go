package patients_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// roll records members as they are reported.
type roll struct {
	members map[int64]string
	order   []int64
}

func (r *roll) member(m patients.Member) {
	r.members[m.No] = fmt.Sprintf("%s %s %s", m.Born, m.Gender, m.History)
	r.order = append(r.order, m.No)
}

func (r *roll) year(no int64, packed []byte) { r.members[no] += fmt.Sprintf(" %x", packed) }

func newRoll() *roll { return &roll{members: map[int64]string{}} }

func TestMembers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o, stranger := all[0].For(&who), storetest.Client(t, all[0], "Theirs")
		record := func(p pain.Patient, years ...int) {
			t.Helper()
			for _, year := range years {
				rec := storetest.Record(t, p.ID, fmt.Sprintf(`{"data_type":"pain_scores","recorded_at":"%d-05-01","value":%d}`, year, year%10))
				if err := storetest.AddRecords(t.Context(), o, p.ID, rec); err != nil {
					t.Fatal(err)
				}
			}
		}
		storetest.AddPatient(t, all[0].For(&stranger), "Not ours")
		var people []pain.Patient
		for i := range 4 {
			people = append(people, storetest.AddPatient(t, o, storetest.PatientName(i)))
		}
		record(people[1], 2022, 2020, 2021)
		storetest.Settle(t, all[0])
		record(people[3], 2021)
		record(people[1], 2020)

		whole := newRoll()
		if err := o.MemberRange(t.Context(), 1, 4, whole.member, whole.year); err != nil || !slices.Equal(whole.order, []int64{1, 2, 3, 4}) {
			t.Fatalf("%v, %v", whole.order, err)
		}
		for no, years := range map[int64]map[int]string{1: {}, 2: o.SeriesOf(t, people[1].ID), 4: o.SeriesOf(t, people[3].ID)} {
			p := people[no-1]
			want := fmt.Sprintf("%s %s %s", p.DateOfBirth, p.Gender, p.MedicalHistory.JSON())
			for _, year := range slices.Sorted(maps.Keys(years)) {
				want += fmt.Sprintf(" %x", years[year])
			}
			if whole.members[no] != want {
				t.Errorf("member %d is %s, want %s", no, whole.members[no], want)
			}
		}
		part := newRoll()
		if err := o.MemberRange(t.Context(), 2, 3, part.member, part.year); err != nil || !slices.Equal(part.order, []int64{2, 3}) || part.members[2] != whole.members[2] {
			t.Errorf("%v, %v", part, err)
		}

		// All changes result in the same members; each comes once, on any node.
		changed := newRoll()
		head, complete, err := all[1].For(&who).ChangedMembers(t.Context(), 0, 100, changed.member, changed.year, func(int64) {})
		if err != nil || !complete || !maps.Equal(changed.members, whole.members) || len(changed.order) != 4 {
			t.Errorf("%+v, %v, %v\nwant %+v", changed, complete, err, whole)
		}
		storetest.Settle(t, all[0])
		if head, complete, err = o.ChangedMembers(t.Context(), head, 100, newRoll().member, newRoll().year, func(int64) {}); !complete || err != nil {
			t.Errorf("%v, %v", complete, err)
		}
		nothing := newRoll()
		if again, complete, err := o.ChangedMembers(t.Context(), head, 100, nothing.member, nothing.year, func(int64) {}); again != head || !complete || err != nil || len(nothing.order) != 0 {
			t.Errorf("after the head: %v at %d, %v, %v", nothing.order, again, complete, err)
		}
		// 4 patients, 5 changes of records, and the head.
		for most, want := range map[int64]bool{9: false, 10: false, 11: true} {
			if _, complete, err := o.ChangedMembers(t.Context(), 0, most, newRoll().member, func(int64, []byte) {}, func(int64) {}); complete != want || err != nil {
				t.Errorf("at most %d: complete %v, %v", most, complete, err)
			}
		}
		if got := newRoll(); all[0].For(&stranger).MemberRange(t.Context(), 1, 4, got.member, got.year) != nil || len(got.order) != 1 {
			t.Errorf("a stranger sees %v", got.order)
		}
	})
}

func TestRecordedSeriesIsTheStoredOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, storetest.PatientName(0))
		if years, err := o.RecordedSeries(t.Context(), 1); len(years) != 0 || err != nil {
			t.Errorf("%d years of a patient without records, %v", len(years), err)
		}
		for i, body := range clinicalBodies {
			rec := storetest.Record(t, p.ID, fmt.Sprintf(`{"data_type":%q,"recorded_at":"202%d-05-01","value":%s}`, body.dataType, i%3, clinicalValue(i, 3)))
			if err := storetest.AddRecords(t.Context(), o, p.ID, rec); err != nil {
				t.Fatal(err)
			}
		}
		stored := o.SeriesOf(t, p.ID)
		years, err := o.RecordedSeries(t.Context(), 1)
		if err != nil || len(years) != len(stored) || len(years) == 0 {
			t.Fatalf("%d years, stored %d, %v", len(years), len(stored), err)
		}
		for i, year := range slices.Sorted(maps.Keys(stored)) {
			if string(years[i]) != stored[year] {
				t.Errorf("%d is %x, stored %x", year, years[i], stored[year])
			}
		}
	})
}
