package patients_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

func mrn(value string) pain.Identifier { return pain.Identifier{System: "mrn", Value: value} }

// identify stores a new patient with identifiers, or returns the error.
func identify(t *testing.T, o store.Org, name string, list ...pain.Identifier) (pain.Patient, error) {
	t.Helper()
	p := storetest.Patient(name)
	p.Identifiers = pain.NewIdentifiers(list...)
	_, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{})
	return p, err
}

// reidentify replaces a patient's identifiers.
func reidentify(t *testing.T, o store.Org, patient id.Patient, list ...pain.Identifier) error {
	t.Helper()
	_, err := o.UpdatePatient(t.Context(), patient, func(old pain.Patient) (pain.Patient, *journal.Change, error) {
		old.Identifiers = pain.NewIdentifiers(list...)
		old.Version++
		c := storetest.Updated(old)
		return old, &c, nil
	})
	return err
}

// found lists the patients with an identifier.
func found(t *testing.T, o store.Org, one pain.Identifier) (ids []id.Patient) {
	t.Helper()
	if err := o.IdentifiedPatients(t.Context(), one, func(item patients.PatientItem) { ids = append(ids, item.ID) }); err != nil {
		t.Fatal(err)
	}
	return ids
}

// isTakenBy fails the test unless an error says which patient has an
// identifier.
func isTakenBy(t *testing.T, err error, owner id.Patient) {
	t.Helper()
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.Conflict || e.Details["patient_id"] != owner.String() {
		t.Errorf("got %v, want a conflict with %s", err, owner)
	}
}

func TestIdentifierBelongsToOnePatient(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		here, there := all[0].For(&who), all[1].For(&who)
		stranger := storetest.Client(t, all[0], "Theirs")
		theirs := all[0].For(&stranger)
		lab := pain.Identifier{System: "lab", Value: "1"}
		a := storetest.Must[pain.Patient](t)(identify(t, here, "A", mrn("1"), lab))
		shows(t, there, a)
		_, err := identify(t, there, "B", mrn("2"), mrn("1"))
		isTakenBy(t, err, a.ID)
		// What failed left nothing behind.
		b := storetest.Must[pain.Patient](t)(identify(t, there, "B", mrn("2")))
		isTakenBy(t, reidentify(t, there, b.ID, mrn("3"), lab), a.ID)
		if got := found(t, here, mrn("3")); got != nil {
			t.Errorf("a refused change left %v", got)
		}
		if got := found(t, here, pain.Identifier{Value: "1"}); !slices.Equal(got, []id.Patient{a.ID}) {
			t.Errorf("in any system: %v, want %s once", got, a.ID)
		}
		storetest.Must[pain.Patient](t)(identify(t, theirs, "C", mrn("1")))
		if got := found(t, theirs, mrn("2")); got != nil {
			t.Errorf("another organisation finds %v", got)
		}

		if err := reidentify(t, here, a.ID, lab); err != nil {
			t.Fatal(err)
		}
		if err := reidentify(t, there, b.ID, mrn("1"), mrn("2")); err != nil {
			t.Errorf("an identifier that was given up is not free: %v", err)
		}
		if err := reidentify(t, there, b.ID, mrn("2"), mrn("1")); err != nil {
			t.Errorf("another order: %v", err)
		}
		if err := reidentify(t, there, b.ID); err != nil {
			t.Fatal(err)
		}
		for _, one := range []pain.Identifier{mrn("1"), mrn("2")} {
			if got := found(t, here, one); got != nil {
				t.Errorf("%v is still there: %v", one, got)
			}
		}
		if _, _, found, err := here.Referred(t.Context(), lab); !found || err != nil {
			t.Errorf("by the lab's number: %v, %v", found, err)
		}
		if _, _, found, err := theirs.Referred(t.Context(), lab); found || err != nil {
			t.Errorf("another organisation by the lab's number: %v, %v", found, err)
		}
	})
}

// put creates or renames the patient with an identifier.
func put(t *testing.T, o store.Org, one pain.Identifier, name string, more ...pain.Identifier) (idempotency.Outcome, error) {
	t.Helper()
	created := storetest.Patient(name)
	created.Identifiers = pain.NewIdentifiers(append(more, one)...)
	return o.PutPatient(t.Context(), one, time.Now(), nil, func(old *pain.Patient) (patients.Put, error) {
		if old == nil {
			c := storetest.Created(created)
			return patients.Put{Patient: created, Change: &c, Outcome: idempotency.Outcome{Status: 201}}, nil
		}
		p := *old
		p.Name = name
		if p == *old {
			return patients.Put{Patient: p, Outcome: idempotency.Outcome{Status: 200}}, nil
		}
		p.Version++
		c := storetest.Updated(p)
		return patients.Put{Patient: p, Change: &c, Outcome: idempotency.Outcome{Status: 200}}, nil
	})
}

// Of many that put a patient with one number, or with each other's numbers, one
// creates the patient, on any node.
func TestPutAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		for round := range 3 {
			a, b := mrn(fmt.Sprint("a", round)), mrn(fmt.Sprint("b", round))
			var created, updated atomic.Int64
			storetest.Together(t, 64, func(i int) error {
				one, other := a, b
				if i%4 > 1 {
					one, other = b, a
				}
				out, err := put(t, all[i%2].For(&who), one, "A", other)
				switch out.Status {
				case 201:
					created.Add(1)
				case 200:
					updated.Add(1)
				}
				return err
			})
			if created.Load() != 1 || updated.Load() != 63 {
				t.Errorf("round %d: %d created, %d updated", round, created.Load(), updated.Load())
			}
			o := all[0].For(&who)
			if ids := found(t, o, a); len(ids) != 1 || !slices.Equal(ids, found(t, o, b)) {
				t.Errorf("round %d: %v and %v", round, ids, found(t, o, b))
			}
			if total := storetest.Must[int64](t)(o.PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {})); total != int64(round)+1 {
				t.Errorf("round %d: %d patients", round, total)
			}
			p := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), found(t, o, a)[0]))
			if p.Version != 1 {
				t.Errorf("round %d: version %d, though nothing changed", round, p.Version)
			}
		}
	})
}

// Patients that give each other their numbers do not block each other for good.
func TestIdentifiersChangeHandsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		const people = 6
		var ids []id.Patient
		for i := range people {
			ids = append(ids, storetest.Must[pain.Patient](t)(identify(t, o, "P", mrn(strconv.Itoa(i)))).ID)
		}
		storetest.Together(t, 16, func(i int) error {
			for n := range 12 {
				list := []pain.Identifier{mrn(strconv.Itoa((i + n) % people)), mrn(strconv.Itoa((i*5 + n*3 + 1) % people))}
				slices.SortFunc(list, pain.Identifier.Compare)
				if err := reidentify(t, all[i%2].For(&who), ids[(i+n*7)%people], slices.Compact(list)...); err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Unavailable) {
					return err
				}
			}
			return nil
		})
		for i := range people {
			owners := found(t, o, mrn(strconv.Itoa(i)))
			for _, patient := range ids {
				p := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), patient))
				list, err := p.Identifiers.List()
				if has := slices.Contains(list, mrn(strconv.Itoa(i))); has != slices.Contains(owners, patient) || err != nil {
					t.Errorf("number %d: owners %v, but %s has %v", i, owners, patient, list)
				}
			}
		}
	})
}

func TestLatestPatients(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		for i := range 7 {
			storetest.AddPatient(t, o, strconv.Itoa(i))
		}
		for page, want := range map[int64]string{1: "[7 6 5]", 2: "[4 3 2]", 3: "[1]", 4: "[]", 1 << 30: "[]"} {
			got := []int64{}
			total, err := o.LatestPatients(t.Context(), page, 3, func(item patients.PatientItem) { got = append(got, item.No) })
			if total != 7 || err != nil || fmt.Sprint(got) != want {
				t.Errorf("page %d: %v of %d, %v; want %s", page, got, total, err, want)
			}
		}
		var got []int64
		if err := o.PatientItems(t.Context(), []int64{5, 2, 99, 7}, func(item patients.PatientItem) { got = append(got, item.No) }); err != nil || !slices.Equal(got, []int64{5, 2, 7}) {
			t.Errorf("by numbers: %v, %v", got, err)
		}
	})
}

func TestImportedLineOfAKnownPatient(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		known := storetest.Must[pain.Patient](t)(identify(t, o, "Known", mrn("1"), mrn("extra")))
		line := func(no int, name string, list ...pain.Identifier) patients.ImportedPatient {
			p := storetest.Patient(name)
			p.Identifiers = pain.NewIdentifiers(list...)
			return patients.ImportedPatient{Content: hashOf(no), Key: hashOf(1000 + no), Patient: p, Change: storetest.Created(p)}
		}
		lines := []patients.ImportedPatient{
			line(1, "Known", mrn("1")),               // has the same values
			line(2, "Somebody", mrn("extra")),        // has other values
			line(3, "New", mrn("3"), mrn("4")),       // is new
			line(4, "Half", mrn("5"), mrn("3")),      // shares a number with the line before
			line(5, "Also new", mrn("6")),            // is new
			line(2, "Somebody", mrn("extra")),        // the second, again
			line(6, "Known", mrn("1"), mrn("fresh")), // has a number that the patient does not have
		}
		for round, want := range []string{"2 [1 3 5 6]", "0 [1 3 5 6]"} {
			if round == 1 {
				there, others, err := o.ImportedPatients(t.Context(), lines)
				if got := fmt.Sprint(there, others); got != "3 [1 3 5 6]" || err != nil {
					t.Errorf("preview: %s, %v", got, err)
				}
			}
			added, others, err := o.ImportPatients(t.Context(), lines)
			if got := fmt.Sprint(added, others); got != want || err != nil {
				t.Errorf("round %d: %s, %v; want %s", round, got, err, want)
			}
		}
		// From now on, the line is recognised even if the patient changes.
		if _, err := o.UpdatePatient(t.Context(), known.ID, func(p pain.Patient) (pain.Patient, *journal.Change, error) {
			p.Name = "Renamed"
			change := storetest.Updated(p)
			return p, &change, nil
		}); err != nil {
			t.Fatal(err)
		}
		if there, others, err := o.ImportedPatients(t.Context(), lines[:1]); there != 1 || others != nil || err != nil {
			t.Errorf("the line of a patient that was renamed: %d, %v, %v", there, others, err)
		}
		for _, free := range []string{"5", "fresh"} {
			if _, err := identify(t, o, "Later", mrn(free)); err != nil {
				t.Errorf("a rejected line keeps %s: %v", free, err)
			}
		}
	})
}

// A line that is refused takes nothing from the lines after it.
func TestRefusedLineReservesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		storetest.Must[pain.Patient](t)(identify(t, o, "Known", mrn("1")))
		line := func(key, content int, name string, list ...pain.Identifier) patients.ImportedPatient {
			p := storetest.Patient(name)
			p.Identifiers = pain.NewIdentifiers(list...)
			return patients.ImportedPatient{Content: hashOf(content), Key: hashOf(1000 + key), Patient: p, Change: storetest.Created(p)}
		}
		lines := []patients.ImportedPatient{
			line(1, 1, "Refused", mrn("1"), mrn("2")), // the first number is that of a patient with another name
			line(2, 2, "Valid", mrn("2"), mrn("3")),
			line(1, 3, "Valid too", mrn("4")), // has the key of the first line
			line(4, 4, "Other", mrn("3")),     // has a number of a valid line, and other values
			line(5, 5, "Valid", mrn("3")),     // is the same person as that line
		}
		for round, want := range []string{"2 [0 3]", "0 [0 3]"} {
			added, others, err := o.ImportPatients(t.Context(), lines)
			if got := fmt.Sprint(added, others); got != want || err != nil {
				t.Errorf("round %d: %s, %v; want %s", round, got, err, want)
			}
		}
	})
}

// A patient that was imported before there were identifiers is found by the
// external identifier, and nobody else can get it.
func TestPatientWithAKeyOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		external := pain.Identifier{System: pain.ExternalSystem, Value: "123"}
		old, key, content := storetest.AddPatient(t, o, "Old"), patients.ExternalKey("123"), hashOf(1)
		storetest.Exec(t, all[0], `INSERT INTO import_key (org_no, key_hash, content, patient_id) VALUES ($1, $2, $3, $4)`, int64(who.Org), key[:], content[:], old.ID.Bytes())
		for _, line := range []struct {
			content patients.ImportHash
			want    string
		}{{content, "0 []"}, {hashOf(2), "0 [0]"}} {
			p := storetest.Patient("Old")
			p.Identifiers = pain.NewIdentifiers(external)
			added, others, err := o.ImportPatients(t.Context(), []patients.ImportedPatient{{Content: line.content, Key: key, Patient: p, Change: storetest.Created(p)}})
			if got := fmt.Sprint(added, others); got != line.want || err != nil {
				t.Errorf("a line with the key: %s, %v; want %s", got, err, line.want)
			}
		}
		for _, one := range []pain.Identifier{external, {Value: "123"}} {
			var found []id.Patient
			if err := o.IdentifiedPatients(t.Context(), one, func(item patients.PatientItem) { found = append(found, item.ID) }); err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0] != old.ID {
				t.Errorf("%v finds %v, want %s", one, found, old.ID)
			}
		}
		_, err := identify(t, o, "Duplicate", mrn("9"), external)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.Conflict || !strings.Contains(fmt.Sprint(f.Details), old.ID.String()) {
			t.Errorf("another patient with the identifier: %v", err)
		}
		if _, err := identify(t, o, "Another", mrn("9")); err != nil {
			t.Errorf("the refused request keeps an identifier: %v", err)
		}
		if err := reidentify(t, o, old.ID, external); err != nil {
			t.Errorf("the patient itself: %v", err)
		}
	})
}

// An external identifier that an imported patient gives up is free for another.
func TestExternalIdentifierIsGivenUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		o := all[0].For(&who)
		external := pain.Identifier{System: pain.ExternalSystem, Value: "123"}
		p := storetest.Patient("First")
		p.Identifiers = pain.NewIdentifiers(external)
		line := patients.ImportedPatient{Content: hashOf(1), Key: patients.ExternalKey("123"), Patient: p, Change: storetest.Created(p)}
		if added, _, err := o.ImportPatients(t.Context(), []patients.ImportedPatient{line}); added != 1 || err != nil {
			t.Fatal(added, err)
		}
		if out, err := put(t, o, external, "First"); out.Status != 200 || err != nil {
			t.Fatal(out.Status, err)
		}
		if err := reidentify(t, o, p.ID); err != nil {
			t.Fatal(err)
		}
		if out, err := put(t, o, external, "Second"); out.Status != 201 || err != nil {
			t.Errorf("another person: %d, %v", out.Status, err)
		}
		if got := storetest.Must[pain.Patient](t)(o.Patient(t.Context(), p.ID)); got.Name != "First" {
			t.Errorf("the first patient became %s", got.Name)
		}
	})
}
