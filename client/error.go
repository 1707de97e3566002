package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the machine-readable code of an error response.
type Code string

// The error codes of the service. The list is complete.
const (
	CodeInvalidParameter      Code = "INVALID_PARAMETER"
	CodeInvalidBody           Code = "INVALID_BODY"
	CodeUnsupportedGrantType  Code = "UNSUPPORTED_GRANT_TYPE"
	CodeInvalidScope          Code = "INVALID_SCOPE"
	CodeUnauthorized          Code = "UNAUTHORIZED"
	CodeInvalidClient         Code = "INVALID_CLIENT"
	CodeForbidden             Code = "FORBIDDEN"
	CodeNotFound              Code = "NOT_FOUND"
	CodeMethodNotAllowed      Code = "METHOD_NOT_ALLOWED"
	CodePreconditionFailed    Code = "PRECONDITION_FAILED"
	CodePayloadTooLarge       Code = "PAYLOAD_TOO_LARGE"
	CodeUnsupportedMediaType  Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeRangeNotSatisfiable   Code = "RANGE_NOT_SATISFIABLE"
	CodeConflict              Code = "CONFLICT"
	CodeReportNotReady        Code = "REPORT_NOT_READY"
	CodeReportFailed          Code = "REPORT_FAILED"
	CodeReportExpired         Code = "REPORT_EXPIRED"
	CodePatientMerged         Code = "PATIENT_MERGED"
	CodeExportNotReady        Code = "EXPORT_NOT_READY"
	CodeExportFailed          Code = "EXPORT_FAILED"
	CodeExportExpired         Code = "EXPORT_EXPIRED"
	CodeIdempotencyInProgress Code = "IDEMPOTENCY_IN_PROGRESS"
	CodeIdempotencyKeyReused  Code = "IDEMPOTENCY_KEY_REUSED"
	CodeRateLimitExceeded     Code = "RATE_LIMIT_EXCEEDED"
	CodeInternalError         Code = "INTERNAL_ERROR"
	CodeServiceUnavailable    Code = "SERVICE_UNAVAILABLE"
)

// Error is an unsuccessful response of the service.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is empty if the response does not have the error format of the
	// service, for example because a proxy sent it.
	Code    Code
	Message string
	// Details are the details as sent by the service. They may echo values of
	// the request and are therefore not part of the message; log them with
	// care.
	Details map[string]any
	// RequestID identifies the request in the logs of the service.
	RequestID string
	// RetryAfter is the delay requested by the service, or zero.
	RetryAfter time.Duration
}

// Error returns the code, message, status and request ID, but no details.
func (e *Error) Error() string {
	text := "anodyne: "
	if e.Code != "" {
		text += string(e.Code) + ": "
	}
	text += fmt.Sprintf("%s (status %d", e.Message, e.Status)
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text + ")"
}

// IsCode reports whether err is or wraps an [*Error] with this code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// IsNotFound reports whether err says that a record does not exist.
func IsNotFound(err error) bool { return IsCode(err, CodeNotFound) }

// MergedInto returns the identifier of the patient that has the data of the one
// that a call named, if err says that this one was merged, and "" otherwise.
func MergedInto(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodePatientMerged {
		return ""
	}
	into, _ := e.Details["into"].(string)
	return into
}

// isTokenRefused reports whether a new token may help.
func isTokenRefused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusUnauthorized {
		return false
	}
	switch e.Details["reason"] {
	case "expired_token", "revoked_token", "invalid_token":
		return true
	}
	return false
}

func newError(resp *http.Response, body []byte) *Error {
	e := &Error{
		Status:     resp.StatusCode,
		Message:    http.StatusText(resp.StatusCode),
		RequestID:  resp.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(resp.Header),
	}
	var wire struct {
		Error struct {
			Code    Code           `json:"code"`
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &wire) == nil && wire.Error.Code != "" {
		e.Code, e.Message, e.Details = wire.Error.Code, wire.Error.Message, wire.Error.Details
	}
	return e
}
