package webhook

import (
	"context"
	"math/rand/v2"
	"time"

	"anodyne.example/anodyne/internal/store/webhooks"
)

const (
	// batchResults limits the results stored in one transaction.
	batchResults = 256
	// batchTime is how long the first result of a batch waits for others.
	// Nothing waits for results, and a crash only repeats slightly more.
	batchTime = 20 * time.Millisecond
	// storeAgain is how long to wait before results that could not be stored are
	// tried again, and mostAside how many of them may wait while others are stored.
	storeAgain = time.Second
	mostAside  = 4 * batchResults
)

// result is the result of a task. Without a task, it only advances the
// position of an endpoint.
type result struct {
	endpoint *endpoint
	task     *webhooks.Task
	attempt  Attempt
}

// record stores results in batches until the channel is closed.
func (w *Worker) record() {
	for open := true; open; {
		var again <-chan time.Time
		if len(w.aside) > 0 {
			again = time.After(storeAgain)
		}
		select {
		case first, more := <-w.results:
			if open = more; more {
				w.write(w.gather(first))
			}
		case <-again:
			w.writeAside()
		}
	}
	w.settleRest()
	for w.writeAside() > 0 && w.sending.Err() == nil {
		w.rest()
	}
}

// rest waits before results are tried again.
func (w *Worker) rest() {
	select {
	case <-time.After(storeAgain):
	case <-w.sending.Done():
	}
}

// gather collects the results that follow shortly after the first.
func (w *Worker) gather(first *result) []*result {
	batch := append(make([]*result, 0, batchResults), first)
	ripe := time.NewTimer(batchTime)
	defer ripe.Stop()
	for len(batch) < batchResults {
		select {
		case r, open := <-w.results:
			if !open {
				return batch
			}
			batch = append(batch, r)
		case <-ripe.C:
			return batch
		}
	}
	return batch
}

// write stores a batch. If that fails, it stores the results of each organisation
// separately, and those that fail again later, so that they do not delay others.
// If there are many of them, it waits until it can store some: until then,
// attempts can only end until the channel is full, and none can begin.
func (w *Worker) write(batch []*result) {
	if len(w.aside) == 0 && w.store(batch) == nil {
		return
	}
	for _, r := range batch {
		org := r.endpoint.claim.Org
		w.aside[org] = append(w.aside[org], r)
	}
	for w.writeAside() > mostAside && w.sending.Err() == nil {
		w.rest()
	}
}

// writeAside stores the results that could not be stored before, one
// organisation at a time, and returns how many are left. A worker that stops
// tries all of them; what is left will be sent again by the next node.
func (w *Worker) writeAside() (left int) {
	for org, list := range w.aside {
		for len(list) > 0 && (w.metrics.orgs.Ready(org) || w.sending.Err() != nil) {
			n := min(len(list), batchResults)
			if w.metrics.orgs.Done(context.Background(), org, w.store(list[:n])) != nil {
				break
			}
			list = list[n:]
		}
		if w.aside[org] = list; len(list) == 0 {
			delete(w.aside, org)
		}
		left += len(list)
	}
	return left
}

// store stores results in one transaction.
func (w *Worker) store(batch []*result) error {
	list, order := w.weigh(batch)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := w.sys.WriteProgress(ctx, list); err != nil {
		w.log.Warn("could not save the results of webhook deliveries; trying again", "results", len(batch), "error", err)
		return err
	}
	for i, p := range list {
		w.settled(order[i], p)
	}
	return nil
}

// part is the part of a batch for one endpoint.
type part struct {
	endpoint *endpoint
	results  []*result
	health   health
}

// weigh determines the consequences of a batch for each endpoint.
func (w *Worker) weigh(batch []*result) (list []*webhooks.Progress, parts []*part) {
	at := map[*endpoint]*part{}
	for _, r := range batch {
		p := at[r.endpoint]
		if p == nil {
			p = &part{endpoint: r.endpoint}
			at[r.endpoint] = p
			parts = append(parts, p)
		}
		if r.task != nil {
			p.results = append(p.results, r)
		}
	}
	for _, p := range parts {
		list = append(list, p.progress())
	}
	return list, parts
}

// progress returns what to store for a part.
func (p *part) progress() *webhooks.Progress {
	e := p.endpoint
	out := &webhooks.Progress{Claim: e.claim, Results: make([]webhooks.Result, 0, len(p.results))}
	e.mu.Lock()
	p.health = e.health
	e.mu.Unlock()
	for _, r := range p.results {
		var disable string
		if p.health, disable = p.health.after(r.attempt); disable != "" {
			out.Disable = disable
		}
		out.Results = append(out.Results, outcome(r))
	}
	out.FailingSince = p.health.failingSince
	out.Pos, out.Open = e.progress(p.results)
	return out
}

// outcome returns the consequence of an attempt for its delivery.
func outcome(r *result) webhooks.Result {
	a := r.attempt
	out := webhooks.Result{Task: r.task, Status: webhooks.Delivered,
		Attempt: webhooks.Attempt{At: a.At, Latency: a.Latency, Status: a.Status, Answer: a.Answer, Error: a.Error}}
	if a.OK() {
		return out
	}
	wait, again := Next(r.task.Tries+1, a, rand.Float64)
	if !again {
		out.Status = webhooks.Failed
		return out
	}
	out.Status, out.Next = webhooks.Pending, a.At.Add(a.Latency+wait)
	return out
}

// settled applies what was stored.
func (w *Worker) settled(p *part, written *webhooks.Progress) {
	e := p.endpoint
	if written.Lost {
		if len(p.results) > 0 {
			w.metrics.claimsLost.Inc()
			w.about(e).Info("webhook results discarded: another node has taken over the webhook, or it was changed", "results", len(p.results))
		}
		w.drop(e)
		w.miss() // it may be free
		return
	}
	for _, r := range written.Results {
		w.metrics.results.WithLabelValues(r.Status.String()).Inc()
		if r.Status == webhooks.Pending {
			w.noteDue(e, r.Next)
		}
	}
	e.mu.Lock()
	e.health = p.health
	e.mu.Unlock()
	if e.wrote(p.results, written.Pos) {
		w.mu.Lock()
		w.waited = append(w.waited, e)
		w.mu.Unlock()
		w.wake()
	}
	if written.Disable != "" {
		w.metrics.disables.Inc()
		w.about(e).Warn("webhook disabled", "reason", written.Disable)
		w.drop(e)
	}
}

// settleRest stores the positions of endpoints that had nothing to send.
func (w *Worker) settleRest() {
	rest := w.unwritten()
	for len(rest) > 0 {
		n := min(len(rest), batchResults)
		batch := make([]*result, n)
		for i, e := range rest[:n] {
			batch[i] = &result{endpoint: e}
		}
		w.write(batch)
		rest = rest[n:]
	}
}

// unwritten returns the endpoints that have advanced beyond their stored
// position.
func (w *Worker) unwritten() (list []*endpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.endpoints {
		e.mu.Lock()
		if e.taken > e.written && !e.lost {
			list = append(list, e)
		}
		e.mu.Unlock()
	}
	return list
}
