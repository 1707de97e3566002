// Package webhook takes events to the addresses that organisations registered:
// what may be registered (url.go), which addresses may be dialled (guard.go),
// how a message is signed (sign.go), one attempt to deliver it (sender.go),
// when to try again (schedule.go), and the worker that does all that.
//
// A Sender makes one attempt and remembers nothing. A Worker finds endpoints
// that have work and claims them (look.go), hands their work out (serve.go,
// endpoint.go), and writes what became of it (record.go, health.go). What it
// has in memory is not needed after a crash: events, cursors and deliveries are
// kept by internal/store.
package webhook
