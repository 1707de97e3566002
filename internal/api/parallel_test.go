package api

import (
	"net/url"
	"sync"
)

// atOnce is how many requests are under way at a time.
const atOnce = 64

// parallel sends count requests, many at a time, and returns the responses in
// order.
func parallel(count int, send func(i int) *reply) []*reply {
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
