package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
)

// gate wraps the analytics of reports: it can block them or make them fail.
type gate struct {
	*cohort.Cohorts
	mu   sync.Mutex
	held chan struct{}
	err  error
}

// hold prevents reports of outcomes from being completed until release is
// called.
func (g *gate) hold(t *testing.T) (release func()) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	held := make(chan struct{})
	g.held = held
	release = sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
		close(held)
	})
	t.Cleanup(release)
	return release
}

// breakWith makes reports of outcomes fail.
func (g *gate) breakWith(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

// Outcomes is the cohort's, once the gate is open.
func (g *gate) Outcomes(ctx context.Context, org store.Org, p *analytics.Params, now time.Time) (*analytics.Outcomes, error) {
	g.mu.Lock()
	held, err := g.held, g.err
	g.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return g.Cohorts.Outcomes(ctx, org, p, now)
}

var errBroken = errors.New("the analytics are broken")

// ask requests a report and returns its identifier.
func (c *caller) ask(body string) string {
	c.tb.Helper()
	return c.post("/v1/reports", body).is(http.StatusCreated).json()["id"].(string)
}

// becomes waits until a report has a status. It looks past the interface, which
// would count how often.
func (c *caller) becomes(report, status string) (rep map[string]any) {
	c.tb.Helper()
	reportID, err := id.Parse[id.ReportKind](report)
	if err != nil {
		c.tb.Fatal(err)
	}
	o := c.store.For(&access.Principal{Org: c.client.Org, Client: c.client.No})
	eventually(c.tb, report+" is "+status, func() bool {
		found, err := o.Report(context.Background(), reportID)
		if err != nil {
			c.tb.Fatal(err)
		}
		return string(found.Status) == status
	})
	return c.get("/v1/reports/" + report).is(http.StatusOK).json()
}

// report requests a report, waits until it is completed and returns its
// identifier.
func (c *caller) report(body string) string {
	c.tb.Helper()
	id := c.ask(body)
	c.becomes(id, "completed")
	return id
}

func downloadOf(report string) string { return "/v1/reports/" + report + "/download" }

// download is the file of a report that is asked for here.
func (c *caller) download(body string) *reply {
	c.tb.Helper()
	return c.get(downloadOf(c.report(body))).is(http.StatusOK)
}

// clinic creates patients with data to report, and returns their identifiers
// and the current day.
func (c *caller) clinic() (ids []string, today string) {
	c.tb.Helper()
	for _, name := range []string{"Arlo Finch", "=cmd|' /C calc'!A0", "Łucja Βασίλη"} {
		ids = append(ids, c.create(name))
	}
	now := c.clock.now()
	day := func(ago int) string { return now.AddDate(0, 0, -ago).UTC().Format(time.DateOnly) }
	c.records(ids[0],
		day(200)+`T09:00:00Z pain_scores {"score":8,"aspect":"average"}`,
		day(110)+`T09:00:00Z pain_scores {"score":4,"aspect":"average"}`,
		day(20)+`T09:00:00Z medications {"name":"methadone","dose":5,"dose_unit":"mg","frequency":"TID","days_supply":60,"prescriber_id":"dr-1","pharmacy_id":"ph-1"}`,
		day(15)+`T09:00:00Z medications {"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30,"prescriber_id":"dr-2"}`,
		day(10)+`T09:00:00Z medications {"name":"lorazepam","days_supply":30}`,
		day(9)+`T09:00:00Z labs {"analyte":"oxycodone","result":"negative","expected":"positive","method":"immunoassay"}`,
		day(8)+`T09:00:00Z assessments {"instrument":"peg","items":{"1":7,"2":7,"3":6}}`,
	)
	c.records(ids[1],
		day(30)+`T09:00:00Z medications {"name":"tramadol","strength":50,"strength_unit":"mg","quantity":240,"days_supply":60,"prescriber_id":"dr-1"}`,
		day(400)+`T09:00:00Z labs {"analyte":"tramadol","result":"positive","expected":"positive"}`,
	)
	c.records(ids[2], day(5)+`T09:00:00Z pain_scores {"score":6}`, day(5)+`T09:00:00Z medications {"name":"gabapentin","days_supply":30}`)
	return ids, day(0)
}
