package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// alerts reads at least this many alerts from the log after a cursor, and
// returns kind, severity, threshold and subject of each, and the end of the
// log.
func (c *caller) alerts(cursor string, least int) (alerts []string, next string) {
	c.tb.Helper()
	for next = cursor; ; {
		path := "/v1/events?wait=20&limit=100"
		if next != "" {
			path += "&after=" + next
		}
		r := c.get(path)
		next = r.cursor()
		for _, e := range r.data() {
			data := e["data"].(map[string]any)
			if e["type"] != "system.alert" {
				continue
			}
			about := data["patient_id"]
			if about == nil {
				about = data["client_id"]
			}
			alerts = append(alerts, fmt.Sprint(data["kind"], " ", data["severity"], " ", data["threshold"], " ", about))
		}
		if len(alerts) >= least {
			return alerts, next
		}
		if len(r.data()) == 0 {
			c.tb.Fatalf("only %q came", alerts)
		}
	}
}

// prescription is a morphine record of so many milligrams a day for ten days, in
// one tablet: of two doses neither is a refill of the other.
func prescription(mg int, start time.Time) string {
	return fmt.Sprintf(`{"data_type":"medications","value":{"name":"morphine","strength":%d,"strength_unit":"mg","quantity":10,"days_supply":10,"start_date":%q}}`, mg, start.Format(time.DateOnly))
}

func TestHighDoseAlert(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, stranger := n.caller("north"), n.caller("south")
		id := c.create("Arlo Finch")
		path := "/v1/patients/" + id + "/clinical-data"
		today := n.clock.now().UTC()

		c.post(path, prescription(120, today.AddDate(0, 0, -30))).is(http.StatusCreated) // ended long ago
		first := c.post(path, prescription(60, today)).is(http.StatusCreated).json()["id"].(string)
		c.post(path, prescription(20, today)).is(http.StatusCreated) // 80: crosses nothing
		alerts, cursor := c.alerts("", 1)
		want := []string{"high_dose_opioid warning 50 " + id}

		c.post(path, `{"records":[{"data_type":"pain_scores","value":7},{"data_type":"medications","value":{"name":"lorazepam","days_supply":5}}]}`).is(http.StatusCreated)
		c.post(path+"/"+first+"/corrections", `{"value":{"name":"morphine","strength":1,"strength_unit":"mg","quantity":800,"days_supply":10}}`).is(http.StatusCreated)
		more, cursor := c.alerts(cursor, 2)
		alerts = append(alerts, more...)
		want = append(want, "opioid_benzodiazepine_overlap critical <nil> "+id, "high_dose_opioid critical 90 "+id)
		if !slices.Equal(alerts, want) {
			t.Errorf("alerts %q, want %q", alerts, want)
		}

		lines := c.get("/v1/audit?action=alert.raise&patient_id=" + id).data()
		if len(lines) != 3 || lines[0]["client_id"] != "service" || lines[0]["resource"] != id {
			t.Errorf("audit %v", lines)
		}

		// What begins tomorrow is alerted tomorrow, and not by a write.
		other := c.create("Wren Sparrow")
		c.post("/v1/patients/"+other+"/clinical-data", prescription(90, today.AddDate(0, 0, 1))).is(http.StatusCreated)
		n.clock.forward(24 * time.Hour)
		c.token, stranger.token = c.issue(""), stranger.issue("")
		if err := n.store.System().SweepAlerts(context.Background()); err != nil {
			t.Fatal(err)
		}
		if alerts, _ := c.alerts(cursor, 1); len(alerts) != 1 || alerts[0] != "high_dose_opioid critical 90 "+other {
			t.Errorf("the next day: %q", alerts)
		}
		if events := stranger.get("/v1/events").data(); len(events) != 0 {
			t.Errorf("another organisation sees %v", events)
		}
	})
}

func TestQuotaWarning(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, reader := n.caller("north"), n.caller("north")
		limit := c.client.Tier.Limit()
		used := func(upTo int64) { // leaves the allowance at so many
			t.Helper()
			r := c.get("/v1/patients")
			for r.remaining() > limit-upTo {
				r = c.get("/v1/patients")
			}
		}
		if _, err := n.store.System().Reserve(context.Background(), c.client.No, limit, limit*3/4, n.clock.now()); err != nil {
			t.Fatal(err)
		}
		used(limit * 4 / 5)
		warned, cursor := reader.alerts("", 1)
		used(limit)
		c.get("/v1/patients").is(http.StatusTooManyRequests)
		more, _ := reader.alerts(cursor, 1)
		about := c.client.ID.String()
		if want := []string{"quota_warning warning 80 " + about, "quota_warning critical 100 " + about}; !slices.Equal(append(warned, more...), want) {
			t.Errorf("alerts %q then %q, want %q", warned, more, want)
		}
	})
}
