package clients_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// The alert for each threshold is raised once per window, whichever nodes call,
// in whatever order and how often. It is not raised for a window that is over.
func TestQuotaIsWarnedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 3, open)
		o := all[0].For(&who)
		start := time.Date(2026, 1, 15, 10, 30, 0, 250e6, time.UTC)
		for window := range 2 {
			at := start.Add(time.Duration(window) * time.Hour)
			grant, err := all[0].System().Reserve(t.Context(), who.Client, 1000, 900, at)
			if err != nil {
				t.Fatal(err)
			}
			storetest.Together(t, 12, func(i int) error {
				return all[i%3].System().WarnQuota(t.Context(), who.Client, grant.WindowEnd, []int{80, 100}[i/3%2])
			})
			if err := all[1].System().WarnQuota(t.Context(), who.Client, at, 80); err != nil { // the previous window
				t.Fatal(err)
			}
		}
		if err := all[0].System().WarnQuota(t.Context(), who.Client+1000, start, 80); err != nil { // no client
			t.Fatal(err)
		}
		storetest.Settle(t, all[0])
		events, _, err := o.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			var a event.Alert
			if err := json.Unmarshal(e.Data, &a); err != nil {
				t.Fatal(err)
			}
			if a.Client == nil || *a.Client != who.ClientID || a.Patient != nil {
				t.Errorf("about %s", e.Data)
			}
			got = append(got, fmt.Sprint(e.Type, " ", a.Kind, " ", a.Severity, " ", a.Threshold))
		}
		slices.Sort(got)
		want := []string{"system.alert quota_warning critical 100", "system.alert quota_warning critical 100", "system.alert quota_warning warning 80", "system.alert quota_warning warning 80"}
		if !slices.Equal(got, want) {
			t.Errorf("alerted %q, want %q", got, want)
		}
		lines, _, err := o.Audit(t.Context(), journal.AuditCursor{}, 100, journal.AuditFilter{Action: "alert.raise", Resource: who.ClientID.String()})
		if err != nil || len(lines) != 4 {
			t.Errorf("%d audit lines, %v", len(lines), err)
		}
	})
}
