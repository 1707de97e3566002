package api

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// atOnce is how many requests are under way at a time.
const atOnce = 64

// parallel sends count requests, many at a time, each [patiently], and returns
// the responses in order.
func parallel(count int, send func(i int) *reply) []*reply {
	return impatient(count, func(i int) *reply { return patiently(func() *reply { return send(i) }) })
}

// impatient is parallel for tests that expect the service to be too busy.
func impatient(count int, send func(i int) *reply) []*reply {
	replies := make([]*reply, count)
	turns := make(chan int)
	var senders sync.WaitGroup
	for range min(atOnce, count) {
		senders.Go(func() {
			for i := range turns {
				replies[i] = send(i)
			}
		})
	}
	for i := range replies {
		turns <- i
	}
	close(turns)
	senders.Wait()
	return replies
}

// patiently sends a request again as long as the service asks for that, as a
// client does: on a busy machine, requests that wait for each other are
// answered 409 or 503 with Retry-After.
func patiently(send func() *reply) *reply {
	r := send()
	for range 60 {
		wait, err := strconv.Atoi(r.header.Get("Retry-After"))
		if err != nil || r.status != http.StatusConflict && r.status != http.StatusServiceUnavailable {
			break
		}
		time.Sleep(time.Duration(wait) * time.Second)
		r = send()
	}
	return r
}

// statuses counts answers by status.
func statuses(replies []*reply) map[int]int {
	count := map[int]int{}
	for _, r := range replies {
		count[r.status]++
	}
	return count
}

func escaped(s string) string { return url.QueryEscape(s) }

func unescaped(s string) string {
	text, err := url.PathUnescape(s)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return text
}
