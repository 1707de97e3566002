package e2e

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/client"
)

// balancer sends each request to one of the nodes that are in it, by chance,
// as a load balancer that tries nothing again.
type balancer struct {
	pace  <-chan time.Time // a request each; as many as come when nil
	mu    sync.Mutex
	nodes []*node
}

func newBalancer(nodes ...*node) *balancer { return &balancer{nodes: slices.Clone(nodes)} }

// paced bounds how many requests are sent, and so how much there is to be
// looked over when a test has long to wait.
func (b *balancer) paced(each time.Duration) *balancer {
	b.pace = time.Tick(each)
	return b
}

// add takes a node in.
func (b *balancer) add(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = append(b.nodes, n)
}

// remove takes a node out; what it has been sent goes on.
func (b *balancer) remove(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = slices.DeleteFunc(b.nodes, func(other *node) bool { return other == n })
}

// any gives one of the nodes.
func (b *balancer) any() *node {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.nodes) == 0 {
		return nil
	}
	return b.nodes[rand.IntN(len(b.nodes))]
}

// RoundTrip sends a request to a node.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.pace != nil {
		<-b.pace
	}
	n := b.any()
	if n == nil {
		return nil, errors.New("there is no node")
	}
	u, err := url.Parse(n.url)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = u.Host, u.Host
	return n.transport.RoundTrip(r)
}

// as returns an application's client for all nodes. It does not retry.
func (b *balancer) as(a application, opts ...client.Option) *client.Client {
	h := &http.Client{Transport: keyless{b}, Timeout: patience}
	return client.New("http://service.example", a.ID, a.Secret, append([]client.Option{client.WithHTTPClient(h), client.WithMaxRetries(0)}, opts...)...)
}

// dial returns the clients of applications, with their tokens, so that a fault
// does not hit the request for one.
func (b *balancer) dial(s *service, apps []application) (clients []*client.Client) {
	s.tb.Helper()
	for _, a := range apps {
		c := b.as(a)
		if _, err := c.Token(s.tb.Context()); err != nil {
			s.tb.Fatal(err)
		}
		clients = append(clients, c)
	}
	return clients
}
