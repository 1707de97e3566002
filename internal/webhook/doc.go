// Package webhook takes events to the addresses that organisations registered:
// what may be registered (url.go), which addresses may be dialled (guard.go),
// how a message is signed (sign.go), one attempt to deliver it (sender.go) and
// when to try again (schedule.go).
//
// A Sender makes one attempt and remembers nothing. What is to be delivered,
// to whom, and what became of it is kept by internal/store.
package webhook
