package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// timeoutError is an attempt that timed out, and how far it got.
type timeoutError struct{ connected, answered bool }

func (e *timeoutError) Error() string {
	switch {
	case e.answered:
		return "the response started but did not finish"
	case e.connected:
		return "the receiver accepted the connection but did not respond"
	}
	return "no connection was established"
}

// statusError is a response that is not 2xx.
type statusError struct{ status int }

func (e *statusError) Error() string {
	text := fmt.Sprintf("the receiver returned %d", e.status)
	if words := http.StatusText(e.status); words != "" {
		text += " " + words
	}
	if e.status/100 == 3 {
		text += "; redirects are not followed, so register the target URL"
	}
	return text
}

// addressError is a URL that must not be used, for example since the server
// left development mode.
type addressError struct{ err error }

func (e *addressError) Error() string { return "the URL " + e.err.Error() }

// plainWords explains why an attempt failed, for the developer of the
// receiver.
func plainWords(err error, timeout time.Duration) string {
	if late, ok := errors.AsType[*timeoutError](err); ok {
		return fmt.Sprintf("no complete response within %v: %v", timeout, late)
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return refused.Error()
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return fmt.Sprintf("the host name %s has no address", lookup.Name)
		}
		return fmt.Sprintf("the host name %s could not be resolved", lookup.Name)
	}
	if words := certificateWords(err); words != "" {
		return words
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the receiver refused the connection; is it listening on this port?"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the receiver closed the connection without a response"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return "the connection failed: " + op.Err.Error() // not op itself, which contains local addresses
	}
	// The rest may quote the receiver.
	text := err.Error()
	return printable([]byte(text[:min(len(text), longestError)]))
}

const longestError = 300

// certificateWords explains what is wrong with the receiver's TLS, or returns
// "" if TLS did not fail.
func certificateWords(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the receiver's certificate is not signed by a known authority, or intermediate certificates are missing; " +
			"the operator of this server can add an authority with --webhook-ca-file"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the receiver's certificate is not for " + wrong.Host
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "the receiver's certificate has expired or is not valid yet"
		}
		return "the receiver's certificate cannot be used: " + invalid.Error()
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the receiver does not speak TLS on this port"
	}
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		return "the receiver aborted the TLS handshake: " + alert.Err.Error()
	}
	return ""
}
