package e2e

import "anodyne.example/anodyne/client"

// measure reads the analytics while others write: every patient acknowledged
// before is counted, and none that was not sent.
func (l *ledger) measure(c *client.Client) bool {
	least, _ := l.patients()
	health, err := c.PopulationHealth(l.tb.Context(), client.AnalyticsQuery{})
	if !l.answered("read analytics", err) {
		return false
	}
	_, most := l.patients()
	if got := *health.Cohort.Patients.Count; got < least || got > most {
		l.tb.Errorf("analytics count %d patients; %d were acknowledged, %d sent", got, least, most)
	}
	return true
}

// readMeasures compares the analytics with the ledger while nothing is
// written.
func (l *ledger) readMeasures(c *client.Client) {
	l.tb.Helper()
	health, err := c.PopulationHealth(l.tb.Context(), client.AnalyticsQuery{})
	if err != nil {
		l.tb.Fatal(err)
	}
	patients, over := 0, 0
	for _, r := range l.records {
		if r.known != nil {
			patients++
		}
		if r.over() {
			over++
		}
	}
	if got := *health.Cohort.Patients.Count; got != patients {
		l.tb.Errorf("analytics count %d patients of %d", got, patients)
	}
	if got := *health.Opioids.AtLeast50.Count; got != over {
		l.tb.Errorf("analytics count %d patients at 50 MME of %d", got, over)
	}
}

// patients counts those that were acknowledged, and those that were sent.
func (l *ledger) patients() (acknowledged, sent int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.acknowledged.Load()), len(l.records)
}
