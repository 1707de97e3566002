package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The reasons for which a webhook message is rejected.
var (
	ErrWebhookHeaders   = errors.New("anodyne: webhook: the headers webhook-id, webhook-timestamp and webhook-signature are not all there and readable")
	ErrWebhookTimestamp = errors.New("anodyne: webhook: the message is too old, or from the future")
	ErrWebhookSignature = errors.New("anodyne: webhook: no signature was made with a secret of this receiver")
)

const (
	// webhookTolerance is the accepted clock difference between sender and
	// receiver, and so the time in which an intercepted message can be
	// replayed.
	webhookTolerance = 5 * time.Minute

	// maxWebhookBody is larger than any event.
	maxWebhookBody = 1 << 20
)

// ReadWebhook reads the event from a webhook request and returns it if
// [VerifyWebhook] accepts it. A receiver responds with 2xx once it has stored
// the event, and recognises repeated deliveries by the event's ID.
func ReadWebhook(r *http.Request, secrets ...string) (*Event, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxWebhookBody))
	if err != nil {
		return nil, fmt.Errorf("anodyne: webhook: read the body: %w", err)
	}
	if err := VerifyWebhook(r.Header, body, secrets...); err != nil {
		return nil, err
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, fmt.Errorf("anodyne: webhook: read the event: %w", err)
	}
	return &event, nil
}

// VerifyWebhook checks that a message was signed with one of the secrets,
// according to Standard Webhooks v1, at most five minutes ago. body must be
// the unmodified request body. Pass both secrets during a rotation.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) error {
	return verifyWebhook(header, body, secrets, time.Now())
}

func verifyWebhook(header http.Header, body []byte, secrets []string, now time.Time) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || signatures == "" {
		return ErrWebhookHeaders
	}
	if at := time.Unix(seconds, 0); at.Before(now.Add(-webhookTolerance)) || at.After(now.Add(webhookTolerance)) {
		return ErrWebhookTimestamp
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return errors.New("anodyne: webhook: a secret of this receiver is not as the service gave it") // without showing the secret
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, timestamp)
		mac.Write(body)
		want := mac.Sum(nil)
		for signature := range strings.FieldsSeq(signatures) {
			encoded, isV1 := strings.CutPrefix(signature, "v1,")
			if got, err := base64.StdEncoding.DecodeString(encoded); isV1 && err == nil && hmac.Equal(got, want) {
				return nil
			}
		}
	}
	return ErrWebhookSignature
}
