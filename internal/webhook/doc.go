// Package webhook delivers events to the URLs that organisations have
// registered. It covers which URLs may be registered (url.go), which addresses
// may be dialled (guard.go), signing (sign.go), a delivery attempt
// (sender.go), the retry schedule (schedule.go), and the worker that drives
// all of it.
//
// A Sender makes single attempts and has no state. A Worker finds endpoints
// with work and claims them (look.go), dispatches their work (serve.go,
// endpoint.go), and stores the results (record.go, health.go). Its memory is
// not needed after a crash: internal/store holds events, cursors and
// deliveries.
package webhook
