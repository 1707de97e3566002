package patients

import (
	"context"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// UntilSweep returns the time to the next sweep; SweepBegun and SweepAhead select
// what a sweep looks for.
var UntilSweep, SweepBegun, SweepAhead = untilSweep, sweepBegun, sweepAhead

// PageStatements are the statements for a page of an organisation without holes.
var PageStatements = []string{densePage, denseLatest}

// ShortSweepSlice makes sweeps read a few patients at a time.
func ShortSweepSlice(tb testing.TB) {
	before := sweepSlice
	sweepSlice = 3
	tb.Cleanup(func() { sweepSlice = before })
}

// ShortNearby makes pages of records look up the day on which they begin.
func ShortNearby(tb testing.TB) {
	before := nearby
	nearby = 3
	tb.Cleanup(func() { nearby = before })
}

// SeriesOf reads the packed series of a patient by year.
func (o Org) SeriesOf(tb testing.TB, patientID id.Patient) map[int]string {
	tb.Helper()
	years := map[int]string{}
	if err := o.db.Read(context.Background(), func(tx engine.Tx) error {
		return tx.Query(`SELECT year, bytes FROM patient_series WHERE org_no = $1
			AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`, func(r engine.Row) error {
			years[int(r.Int(0))] = string(r.Raw(1))
			return nil
		}, int64(o.org), patientID.Bytes())
	}); err != nil {
		tb.Fatal(err)
	}
	return years
}

// ShortDerivation makes a derivation process one patient at a time.
func ShortDerivation(tb testing.TB) {
	old := derivedAtOnce
	derivedAtOnce = 1
	tb.Cleanup(func() { derivedAtOnce = old })
}

// FewAliases reduces the maximum number of aliases.
func FewAliases(tb testing.TB, most int64) {
	old := mostAliases
	mostAliases = most
	tb.Cleanup(func() { mostAliases = old })
}

// AskForAliases sets how often nodes check whether others changed aliases.
func AskForAliases(tb testing.TB, every time.Duration) {
	old := aliasesEvery
	aliasesEvery = every
	tb.Cleanup(func() { aliasesEvery = old })
}

// FeedEntries selects the journal entries of a page of the feed.
const FeedEntries = feedEntries

// ShortFeed makes a page of the feed look at a few journal entries for a low
// limit, and end after a few bytes.
func ShortFeed(tb testing.TB, entries, bytes int) {
	oldEntries, oldBytes := feedSpanLeast, feedPageBytes
	feedSpanLeast, feedPageBytes = entries, bytes
	tb.Cleanup(func() { feedSpanLeast, feedPageBytes = oldEntries, oldBytes })
}

// Awaited reports whether another process waits for the end of a transaction.
func (o Org) Awaited() bool { return o.db.Awaited() }
