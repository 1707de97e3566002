package api

import (
	"crypto/sha256"
	"errors"
	"io"
	"mime"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/strictjson"
)

// bodyLimit is the maximum size of a body, except where a route sets its own.
const bodyLimit = 1 << 20

// readBody checks the media type and reads the body. A missing Content-Type
// means the first of types.
func (x *exchange) readBody(limit int64, types ...string) ([]byte, error) {
	if err := x.checkType(types); err != nil {
		return nil, err
	}
	tooLarge := func() error {
		x.h["Connection"] = []string{"close"} // the rest of the body is not read
		return fault.New(fault.PayloadTooLarge, "The body is too large.", "max_bytes", limit)
	}
	if x.r.ContentLength > limit {
		return nil, tooLarge()
	}
	size := x.r.ContentLength
	if size < 0 {
		size = 512
	}
	body := make([]byte, 0, size+1)
	for {
		n, err := x.r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge()
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, fault.New(fault.InvalidBody, "The body could not be read completely.", "reason", "the connection or its encoding was interrupted", "offset", len(body))
		case len(body) == cap(body):
			body = append(body, 0)[:len(body)]
		}
	}
}

func (x *exchange) checkType(types []string) error {
	header := x.r.Header["Content-Type"]
	if len(header) == 0 || len(header) == 1 && (header[0] == "" || header[0] == types[0]) {
		return nil
	}
	media, params, err := mime.ParseMediaType(header[0])
	charset := params["charset"]
	if err != nil || len(header) > 1 || !slices.Contains(types, media) || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedMediaType, "Send the body as "+strings.Join(types, " or ")+" in UTF-8.", "supported", types)
	}
	return nil
}

// readJSON reads a JSON object. raw is the body as sent.
func (x *exchange) readJSON(limit int64, types ...string) (object *strictjson.Object, raw []byte, err error) {
	if raw, err = x.readBody(limit, types...); err != nil {
		return nil, nil, err
	}
	object, err = strictjson.Parse(raw)
	return object, raw, err
}

// readPost reads what all POSTs that change data share: no query, one JSON
// object, and an optional Idempotency-Key.
func (x *exchange) readPost(limit int64) (object *strictjson.Object, key *idempotency.Once, err error) {
	if err = x.noQuery(); err != nil {
		return nil, nil, err
	}
	object, raw, err := x.readJSON(limit, "application/json")
	if err != nil {
		return nil, nil, err
	}
	key, err = x.once(raw)
	return object, key, err
}

// readPatch reads a merge patch without query parameters.
func (x *exchange) readPatch() (*strictjson.Object, error) {
	if err := x.noQuery(); err != nil {
		return nil, err
	}
	object, _, err := x.readJSON(bodyLimit, "application/merge-patch+json", "application/json")
	return object, err
}

// readBare is like readPost for requests without content: the body is empty or
// an empty object.
func (x *exchange) readBare() (*idempotency.Once, error) {
	if err := x.noQuery(); err != nil {
		return nil, err
	}
	raw, err := x.readBody(bodyLimit, "application/json")
	if err != nil {
		return nil, err
	}
	if len(raw) > 0 {
		object, err := strictjson.Parse(raw)
		if err != nil {
			return nil, err
		}
		var fields fault.Fields
		r := strictjson.Read(object, &fields)
		if r.Done(); !fields.OK() {
			return nil, fields.Err()
		}
	}
	return x.once(raw)
}

// once reads the Idempotency-Key; nil means there is none. The path is part of
// the key, so one key may be used on two routes.
func (x *exchange) once(body []byte) (*idempotency.Once, error) {
	header, given := x.r.Header["Idempotency-Key"]
	if !given {
		return nil, nil
	}
	if len(header) != 1 || !printable(header[0]) {
		return nil, fault.Parameter("Idempotency-Key", clip(strings.Join(header, ",")), "Idempotency-Key must be one value of 1 to 255 printable ASCII characters.")
	}
	key := sha256.Sum256([]byte(x.r.Method + "\n" + x.r.URL.Path + "\n" + header[0]))
	sum := sha256.Sum256(body)
	return &idempotency.Once{Key: key[:], Body: sum[:]}, nil
}

func printable(s string) bool {
	if len(s) == 0 || len(s) > 255 {
		return false
	}
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// outcome converts the outcome of a write to a response.
func (x *exchange) outcome(out idempotency.Outcome) answer {
	return answer{status: out.Status, body: out.Body, location: out.Location, etag: out.ETag, replayed: out.Replayed}
}
