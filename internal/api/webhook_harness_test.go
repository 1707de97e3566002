package api

import (
	"context"
	"net/http"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
)

const hookBody = `{"url":"https://hooks.example.com/anodyne","events":["patient.created","clinical_data.updated"],"description":"Record system"}`

// hook registers a webhook and returns its identifier.
func (c *caller) hook() string {
	c.tb.Helper()
	return c.post("/v1/webhooks", hookBody).is(http.StatusCreated).json()["id"].(string)
}

// tried sends a test event to a webhook and returns the delivery.
func (c *caller) tried(webhook string) string {
	c.tb.Helper()
	return c.post("/v1/webhooks/"+webhook+"/test", "").is(http.StatusAccepted).json()["id"].(string)
}

// switched enables or disables a webhook.
func (c *caller) switched(webhook, status string) *reply {
	c.tb.Helper()
	return c.send("PATCH", "/v1/webhooks/"+webhook, `{"status":`+quote(status)+`}`).is(http.StatusOK)
}

// webhookRoutes are the routes of a webhook, with a body that they take. The
// one that removes it is left out.
func webhookRoutes(webhook, delivery string) map[string]string {
	one := "/v1/webhooks/" + webhook
	sent := one + "/deliveries/" + delivery
	return map[string]string{
		"GET " + one: "", "GET " + one + "/stats": "", "GET " + one + "/deliveries": "", "GET " + sent: "",
		"PATCH " + one: `{"description":"x"}`, "POST " + one + "/rotate-secret": "", "POST " + one + "/test": "",
		"POST " + one + "/recover": `{"since":"2026-01-01"}`, "POST " + sent + "/redeliver": "",
	}
}

const webhookScopes = access.WebhooksRead | access.WebhooksWrite

// dump is every row of every table of the database.
func (n *node) dump() (rows []byte) {
	n.tb.Helper()
	if err := n.store.System().Dump(context.Background(), func(d *engine.Dump) error {
		for _, table := range d.Tables {
			if err := d.Rows(table, func(r engine.Row) error {
				rows = table.AppendRow(rows, r)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		n.tb.Fatal(err)
	}
	return rows
}
