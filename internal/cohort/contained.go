package cohort

import (
	"fmt"
	"runtime/debug"
)

// contained converts a panic to an error. Every goroutine that works on a query
// needs it: request handlers only recover from panics on their own goroutine, and
// any other ends the process. A query about slices would end that of every node.
func contained(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a query: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
