package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// webhookPath is measured differently: there is no baseline.
const webhookPath = "webhook"

const (
	// eventRate is the number of events per second while latency is measured.
	eventRate = 200
	// deadReceivers is the number of receivers that never respond in the second
	// measurement.
	deadReceivers = 10
	// backlogTime is the maximum time for which events are held back. It is
	// shorter than the timeout of an attempt, because the first ones wait that
	// long.
	backlogTime = 2 * time.Second
	// arrivalTime is how long deliveries may take to arrive.
	arrivalTime = time.Minute

	webhookRateGate = 3000 // deliveries per second
	webhookP50Gate  = 20   // milliseconds
)

// WebhookResult is the result for deliveries to a receiver on loopback.
// Latency is the time from sending the request that causes an event to the
// receipt of the event, which is slightly more than from the commit.
type WebhookResult struct {
	Deliveries int     `json:"deliveries"`
	Rate       float64 `json:"deliveries_per_second"`
	RateGate   float64 `json:"rate_gate"`
	Latency    Latency `json:"latency"`
	P50Gate    float64 `json:"p50_gate_ms"`
	// BesideDead is the latency while other receivers never respond.
	BesideDead Latency `json:"latency_beside_dead_receivers"`
	GateMet    bool    `json:"gate_met"`
	// Missing counts events that did not arrive.
	Missing int `json:"missing"`
}

// webhooks measures the latency, the latency beside dead receivers, and then
// how fast a backlog is delivered.
func (m *measurement) webhooks(ctx context.Context) (result *WebhookResult, err error) {
	m.server.resume()
	to, err := newReceiver()
	if err != nil {
		return nil, err
	}
	defer to.close()
	api := &hooks{caller: newCaller("http://"+m.server.address, m.slots[0], eventRate), duration: m.Duration}
	defer api.close()
	if err := api.subscribe(ctx, to.url); err != nil {
		return nil, err
	}
	result = &WebhookResult{RateGate: webhookRateGate, P50Gate: webhookP50Gate}
	if result.Latency, err = api.latency(ctx, to, result); err != nil {
		return nil, err
	}
	dead, err := newDeadReceivers(deadReceivers)
	if err != nil {
		return nil, err
	}
	defer dead.close()
	for _, url := range dead.urls {
		if err := api.subscribe(ctx, url); err != nil {
			return nil, err
		}
	}
	if result.BesideDead, err = api.latency(ctx, to, result); err != nil {
		return nil, err
	}
	if err := api.unsubscribe(ctx, 1); err != nil {
		return nil, err
	}
	if err := m.drain(ctx, to, result); err != nil {
		return nil, err
	}
	result.GateMet = result.Rate >= webhookRateGate && result.Latency.P50 <= webhookP50Gate
	return result, api.unsubscribe(ctx, 0)
}

// drain builds up a backlog behind a receiver that does not respond, releases
// it, and measures the time until all events have arrived.
func (m *measurement) drain(ctx context.Context, to *receiver, result *WebhookResult) error {
	s := newScript(findPath("post"), m.server.name(), m.IdempotencyKey)
	product, err := connect(ctx, []*child{m.server}, s, m.slots, true)
	if err != nil {
		return err
	}
	defer product.close()
	before := to.count()
	to.hold()
	posted, err := product.slice(min(backlogTime, m.Duration))
	began := time.Now()
	to.release()
	m.server.resume()
	if err != nil {
		return err
	}
	if wrong, first := product.errors(); wrong > 0 {
		return fmt.Errorf("POST patient: %s", first)
	}
	want := before + int(posted.requests)
	to.await(ctx, want)
	result.Deliveries = to.count() - before
	result.Missing += want - to.count()
	result.Rate = float64(result.Deliveries) / to.last().Sub(began).Seconds()
	return ctx.Err()
}

// hooks subscribes receivers and causes events.
type hooks struct {
	*caller
	duration time.Duration
	webhooks []string
}

func (c *hooks) subscribe(ctx context.Context, url string) error {
	var hook made
	err := c.call(ctx, http.MethodPost, "/v1/webhooks", fmt.Appendf(nil, `{"url":%q,"events":["patient.created"]}`, url), http.StatusCreated, &hook)
	c.webhooks = append(c.webhooks, hook.ID)
	return err
}

// unsubscribe removes all webhooks except for the first keep.
func (c *hooks) unsubscribe(ctx context.Context, keep int) error {
	for _, id := range c.webhooks[keep:] {
		if err := c.call(ctx, http.MethodDelete, "/v1/webhooks/"+id, nil, http.StatusNoContent, nil); err != nil {
			return err
		}
	}
	c.webhooks = c.webhooks[:keep]
	return nil
}

// latency creates patients at a steady rate and measures how long after each
// request its event arrived.
func (c *hooks) latency(ctx context.Context, to *receiver, result *WebhookResult) (Latency, error) {
	count := max(1, int(c.duration.Seconds()*eventRate))
	bodies := arrivals()
	var (
		mu       sync.Mutex
		sent     = make(map[string]time.Time, count)
		failures []error
		done     sync.WaitGroup
	)
	before := to.count()
	tick := time.NewTicker(time.Second / eventRate)
	defer tick.Stop()
	for n := range count {
		authorization, err := c.authorization()
		if err != nil {
			return Latency{}, err
		}
		done.Go(func() {
			began := time.Now()
			var patient made
			err := c.callAs(ctx, authorization, http.MethodPost, "/v1/patients", bodies[n%len(bodies)], http.StatusCreated, &patient)
			mu.Lock()
			defer mu.Unlock()
			sent[patient.ID] = began
			failures = append(failures, err)
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	done.Wait()
	if err := errors.Join(append(failures, ctx.Err())...); err != nil {
		return Latency{}, err
	}
	to.await(ctx, before+count)
	all := new(histogram)
	for patient, began := range sent {
		if at, arrived := to.arrival(patient); arrived {
			all.add(at.Sub(began))
		} else {
			result.Missing++
		}
	}
	return latencyOf(all), ctx.Err()
}
