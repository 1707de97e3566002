package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret   = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	webhookBody   = `{"id":"evt_01h000000000000000000000000","type":"patient.created","timestamp":"2026-01-15T10:30:00Z","data":{"patient_id":"pat_1"}}`
)

// signed makes the headers of a message. internal/webhook has a test with
// messages that the official library signs.
func signed(t *testing.T, at time.Time, body string, secrets ...string) http.Header {
	t.Helper()
	var signatures []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "evt_01h000000000000000000000000.%d.%s", at.Unix(), body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h := http.Header{}
	h.Set("webhook-id", "evt_01h000000000000000000000000")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return h
}

func TestVerifyWebhook(t *testing.T) {
	now := time.Unix(1768473000, 0)
	for _, c := range []struct {
		name    string
		at      time.Time
		signers []string
		change  func(http.Header)
		body    string
		secrets []string
		want    error
	}{
		{name: "as it was signed"},
		{name: "bare secret", secrets: []string{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}},
		{name: "sender rotates, receiver has the old secret", signers: []string{otherSecret, webhookSecret}},
		{name: "sender rotates, receiver has both", signers: []string{otherSecret, webhookSecret}, secrets: []string{webhookSecret, otherSecret}},
		{name: "receiver has the new secret already", secrets: []string{otherSecret, webhookSecret}},
		{name: "five minutes late", at: now.Add(-5 * time.Minute)},
		{name: "five minutes early", at: now.Add(5 * time.Minute)},
		{name: "signatures of other versions beside", change: func(h http.Header) { h.Set("webhook-signature", "v1a,AAAA v2,AAAA  "+h.Get("webhook-signature")) }},

		{name: "later", at: now.Add(-5*time.Minute - time.Second), want: ErrWebhookTimestamp},
		{name: "earlier", at: now.Add(5*time.Minute + time.Second), want: ErrWebhookTimestamp},
		{name: "other secret", secrets: []string{otherSecret}, want: ErrWebhookSignature},
		{name: "no secret", secrets: []string{}, want: ErrWebhookSignature},
		{name: "changed body", body: strings.Replace(webhookBody, "pat_1", "pat_2", 1), want: ErrWebhookSignature},
		{name: "changed id", change: func(h http.Header) { h.Set("webhook-id", "evt_2") }, want: ErrWebhookSignature},
		{name: "changed time", change: func(h http.Header) { h.Set("webhook-timestamp", strconv.FormatInt(now.Unix()-1, 10)) }, want: ErrWebhookSignature},
		{name: "time written otherwise", change: func(h http.Header) { h.Set("webhook-timestamp", "+"+h.Get("webhook-timestamp")) }, want: ErrWebhookSignature},
		{name: "other version", change: func(h http.Header) {
			h.Set("webhook-signature", strings.Replace(h.Get("webhook-signature"), "v1,", "v2,", 1))
		}, want: ErrWebhookSignature},
		{name: "no version", change: func(h http.Header) {
			h.Set("webhook-signature", strings.TrimPrefix(h.Get("webhook-signature"), "v1,"))
		}, want: ErrWebhookSignature},
		{name: "no signature", change: func(h http.Header) { h.Set("webhook-signature", "v1,") }, want: ErrWebhookSignature},
		{name: "no id", change: func(h http.Header) { h.Del("webhook-id") }, want: ErrWebhookHeaders},
		{name: "no time", change: func(h http.Header) { h.Del("webhook-timestamp") }, want: ErrWebhookHeaders},
		{name: "time in words", change: func(h http.Header) { h.Set("webhook-timestamp", "now") }, want: ErrWebhookHeaders},
		{name: "no signatures", change: func(h http.Header) { h.Del("webhook-signature") }, want: ErrWebhookHeaders},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.at.IsZero() {
				c.at = now
			}
			if c.signers == nil {
				c.signers = []string{webhookSecret}
			}
			if c.secrets == nil {
				c.secrets = []string{webhookSecret}
			}
			if c.body == "" {
				c.body = webhookBody
			}
			header := signed(t, c.at, webhookBody, c.signers...)
			if c.change != nil {
				c.change(header)
			}
			if err := verifyWebhook(header, []byte(c.body), c.secrets, now); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// The example that the Standard Webhooks specification shows.
func TestVerifyWebhookOfTheSpecification(t *testing.T) {
	header := http.Header{}
	header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	if err := verifyWebhook(header, []byte(`{"test": 2432232314}`), []string{webhookSecret}, time.Unix(1614265330, 0)); err != nil {
		t.Error(err)
	}
}

func TestVerifyWebhookDoesNotShowABadSecret(t *testing.T) {
	for _, secret := range []string{"whsec_hunter2!", "whsec_", ""} {
		err := VerifyWebhook(signed(t, time.Now(), webhookBody, webhookSecret), []byte(webhookBody), secret)
		if err == nil || errors.Is(err, ErrWebhookSignature) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

func TestReadWebhook(t *testing.T) {
	request := func(body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
		r.Header = signed(t, time.Now(), body, webhookSecret)
		return r
	}
	event, err := ReadWebhook(request(webhookBody), webhookSecret)
	if err != nil || event.ID != "evt_01h000000000000000000000000" || event.Type != EventPatientCreated || string(event.Data) != `{"patient_id":"pat_1"}` {
		t.Fatalf("got %+v, %v", event, err)
	}
	for name, c := range map[string]struct {
		body, secret string
	}{
		"another secret": {webhookBody, otherSecret},
		"no event":       {"[]", webhookSecret},
		"too large":      {strings.Repeat(" ", maxWebhookBody) + webhookBody, webhookSecret},
	} {
		if event, err := ReadWebhook(request(c.body), c.secret); err == nil || event != nil {
			t.Errorf("%s: got %+v, %v", name, event, err)
		}
	}
}
