package e2e

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// takeover bounds the wait for deliveries after a kill, on a machine however
// busy.
const takeover = 5 * time.Minute

// TestFaultWebhooksSurviveKill kills the service in the middle of 5,000 deliveries.
func TestFaultWebhooksSurviveKill(t *testing.T) {
	testneed.Long(t, "killing the service during 5,000 deliveries")
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const all = 5000
			s := newService(t, engine)
			n := s.node(0, "--dev")
			app := s.register("enterprise")
			to, c := newReceiver(t), newCrowd(t, app)
			to.register(n.as(app))
			log := follow(t, n, app)

			grown := make(chan struct{})
			go func() {
				defer close(grown)
				c.grow(all, n)
			}()
			eventually(t, takeover, "deliveries", func() bool { events, _ := to.count(); return events >= all/3 })
			n.kill()
			<-grown
			before, messages := to.count()
			n = s.node(0, "--dev")
			ready := time.Now()
			log.node.Store(n)
			grown = make(chan struct{})
			go func() {
				defer close(grown)
				c.grow(all, n)
			}()
			eventually(t, takeover, "deliveries go on", func() bool { _, now := to.count(); return now > messages })
			t.Logf("deliveries went on %v after the restart", time.Since(ready).Round(time.Millisecond))
			<-grown

			eventually(t, takeover, "every event arrives", func() bool { events, _ := to.count(); return events >= c.count() })
			events := log.log(c)
			eventually(t, takeover, "also those whose answer was lost", func() bool { arrived, _ := to.count(); return arrived >= len(events) })
			t.Logf("%d events, %d of them before the kill; %d messages were repeats", len(events), before, to.holds(events))
			s.check()
		})
	}
}

// TestFaultWebhooksSurviveTheLossOfANode: three nodes share the webhooks of one
// database; those of a node that is killed are taken over.
func TestFaultWebhooksSurviveTheLossOfANode(t *testing.T) {
	t.Parallel()
	const all, endpoints = 600, 6
	s := newService(t, storetest.Postgres)
	nodes := []*node{s.node(0, "--dev"), s.node(1, "--dev"), s.node(2, "--dev")}
	app := s.register("enterprise")
	var receivers []*receiver
	for i := range endpoints {
		r := newReceiver(t)
		r.register(nodes[i%len(nodes)].as(app))
		receivers = append(receivers, r)
	}
	c, log := newCrowd(t, app), follow(t, nodes[1], app)
	arrived := func(wanted int) func() bool {
		return func() bool {
			for _, r := range receivers {
				if events, _ := r.count(); events < wanted {
					return false
				}
			}
			return true
		}
	}
	c.grow(all/3, nodes...)
	eventually(t, takeover, "the first events arrive", arrived(all/3))
	grown := make(chan struct{})
	go func() {
		defer close(grown)
		c.grow(all, nodes...)
	}()
	eventually(t, takeover, "more events", func() bool { return c.count() >= all/2 })
	nodes[0].kill()
	killed := time.Now()
	<-grown
	c.grow(all, nodes[1:]...)

	eventually(t, takeover, "every event arrives", arrived(c.count()))
	t.Logf("every event had arrived at every endpoint %v after the kill", time.Since(killed).Round(time.Millisecond))
	events := log.log(c)
	eventually(t, takeover, "also those whose answer was lost", arrived(len(events)))
	for _, r := range receivers {
		if repeats := r.holds(events); repeats > len(events)/2 {
			t.Errorf("%d of %d events were sent more than once", repeats, len(events))
		}
	}
	s.check()
}

// TestDeadReceiversDelayNobody: beside receivers that never answer, refuse or
// fail, a healthy one gets everything. Were they worked on one after the other,
// or did they share what may be under way, it would take a quarter of an hour.
func TestDeadReceiversDelayNobody(t *testing.T) {
	testneed.Long(t, "waiting for receivers that do not respond")
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const all = 100
			s := newService(t, engine)
			n := s.node(0, "--dev")
			app := s.register("enterprise")
			for range 20 {
				subscribe(t, n.as(app), deadReceiver(t), client.EventPatientCreated)
			}
			subscribe(t, n.as(app), "http://127.0.0.1:1/", client.EventPatientCreated) // nobody listens there
			subscribe(t, n.as(app), n.url+"/v1/patients", client.EventPatientCreated)  // answers 401
			to, c := newReceiver(t), newCrowd(t, app)
			to.register(n.as(app))
			c.grow(all, n)
			eventually(t, takeover, "the healthy receiver has everything", func() bool { events, _ := to.count(); return events >= c.count() })
			if code := n.terminate(); code != 0 {
				t.Errorf("exit code %d after SIGTERM", code)
			}
		})
	}
}

// TestReceiversWithinTheHouse: a receiver with a private address and a
// certificate of a private authority is reached once the operator allows it.
func TestReceiversWithinTheHouse(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite)
	to := newReceiver(t)
	inside := httptest.NewUnstartedServer(to)
	inside.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // connections that end with the node
	inside.StartTLS()
	t.Cleanup(inside.Close)
	to.url = inside.URL
	authority := filepath.Join(s.dir, "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: inside.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	app := s.register("standard")

	n := s.node(0)
	_, err := n.as(app).CreateWebhook(t.Context(), client.NewWebhook{URL: inside.URL, Events: []client.EventType{client.EventAll}})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidParameter || e.Details["parameter"] != "url" || !strings.Contains(e.Message, "--webhook-allow-cidr") {
		t.Errorf("a loopback address is registered, or the reason is not told: %v", err)
	}
	n.terminate()

	n = s.node(0, "--webhook-allow-cidr", "127.0.0.0/8", "--webhook-ca-file", authority)
	to.register(n.as(app))
	c := newCrowd(t, app)
	c.grow(1, n)
	eventually(t, takeover, "the event arrives", func() bool { events, _ := to.count(); return events >= 1 })
}
