package storetest

import (
	"fmt"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
)

// Together runs fn n times concurrently and fails the test on any error.
func Together(t testing.TB, n int, fn func(i int) error) {
	t.Helper()
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			<-start
			if err := fn(i); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// Nodes opens n nodes on one database and creates an organisation.
func Nodes(t *testing.T, n int, open func() *store.Store) ([]*store.Store, access.Principal) {
	t.Helper()
	list := make([]*store.Store, n)
	for i := range list {
		list[i] = open()
	}
	return list, Client(t, list[0], "General Hospital")
}

// Must returns a function that returns its value, or ends the test if there is
// an error.
func Must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// PatientName returns a name for the i-th patient.
func PatientName(i int) string { return fmt.Sprintf("Patient %d", i) }
