// Package fault defines the errors of the service: a closed list of codes, a
// message for the caller, and details as specified by the contract.
//
// Rules and the store return a *fault.Error for everything that a caller can
// cause or should know. Any other error is internal and only logged.
// internal/api maps codes to HTTP statuses, in one place.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code is a machine-readable error code. The list is closed and published in
// the OpenAPI document.
type Code string

// The codes of the service.
const (
	InvalidParameter     Code = "INVALID_PARAMETER"
	InvalidBody          Code = "INVALID_BODY"
	UnsupportedGrantType Code = "UNSUPPORTED_GRANT_TYPE"
	InvalidScope         Code = "INVALID_SCOPE"
	Unauthorized         Code = "UNAUTHORIZED"
	InvalidClient        Code = "INVALID_CLIENT"
	Forbidden            Code = "FORBIDDEN"
	NotFound             Code = "NOT_FOUND"
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	PreconditionFailed   Code = "PRECONDITION_FAILED"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	RangeNotSatisfiable  Code = "RANGE_NOT_SATISFIABLE"
	Conflict             Code = "CONFLICT"
	ReportNotReady       Code = "REPORT_NOT_READY"
	ReportFailed         Code = "REPORT_FAILED"
	ReportExpired        Code = "REPORT_EXPIRED"
	PatientMerged        Code = "PATIENT_MERGED"
	ExportNotReady       Code = "EXPORT_NOT_READY"
	ExportFailed         Code = "EXPORT_FAILED"
	ExportExpired        Code = "EXPORT_EXPIRED"
	IdempotencyRunning   Code = "IDEMPOTENCY_IN_PROGRESS"
	IdempotencyKeyReused Code = "IDEMPOTENCY_KEY_REUSED"
	RateLimitExceeded    Code = "RATE_LIMIT_EXCEEDED"
	Internal             Code = "INTERNAL_ERROR"
	Unavailable          Code = "SERVICE_UNAVAILABLE"
)

// Codes lists all codes.
func Codes() []Code {
	return []Code{
		InvalidParameter, InvalidBody, UnsupportedGrantType, InvalidScope, Unauthorized, InvalidClient, Forbidden, NotFound, MethodNotAllowed,
		PreconditionFailed, PayloadTooLarge, UnsupportedMediaType, RangeNotSatisfiable, Conflict, ReportNotReady, ReportFailed, ReportExpired, PatientMerged,
		ExportNotReady, ExportFailed, ExportExpired,
		IdempotencyRunning, IdempotencyKeyReused, RateLimitExceeded, Internal, Unavailable,
	}
}

// Error is an error that may be returned to the caller.
type Error struct {
	Code    Code
	Message string
	// Details becomes error.details. It echoes values to the caller and must
	// never be logged, because they may be patient data.
	Details map[string]any
	// RetryAfter, if positive, becomes the Retry-After header.
	RetryAfter time.Duration
	// Cause is for the log only.
	Cause error
}

// Error returns the code and message without the details, so that it is safe
// to log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns a fault with details given as alternating names and values.
func New(code Code, message string, details ...any) *Error {
	e := &Error{Code: code, Message: message, Details: make(map[string]any, len(details)/2)}
	for i := 0; i+1 < len(details); i += 2 {
		e.Details[details[i].(string)] = details[i+1]
	}
	return e
}

// Missing returns the fault for a resource that does not exist or belongs to
// another organisation.
func Missing(resource, id string) *Error {
	return New(NotFound, "There is no "+resource+" with this identifier.", "resource", resource, "id", id)
}

// Away returns the fault for a temporarily unavailable service. The cause is
// only logged.
func Away(message string, cause error) *Error {
	return &Error{Code: Unavailable, Message: message, Details: map[string]any{}, RetryAfter: time.Second, Cause: cause}
}

// CodeOf returns the code of err: Internal for an error that is not a fault,
// and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Is reports whether err is a fault with this code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }
