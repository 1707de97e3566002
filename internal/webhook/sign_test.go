package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"anodyne.example/anodyne/client"
)

func TestSignatureIsTheOneOfTheSpecification(t *testing.T) {
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	for _, secret := range []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		got, err := sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`), []string{secret})
		if err != nil || got != want {
			t.Errorf("sign = %q, %v; want %q", got, err, want)
		}
	}
}

func TestOfficialLibraryAcceptsEverySecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`evt_[0-9a-z]{26}`).Draw(t, "id")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		secrets := make([]string, rapid.IntRange(1, 3).Draw(t, "secrets"))
		for i := range secrets {
			secrets[i] = NewSecret()
		}
		now := time.Now()
		signature, err := sign(id, now.Unix(), body, secrets)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{headerID: {id}, headerTimestamp: {strconv.FormatInt(now.Unix(), 10)}, headerSignature: {signature}}
		for _, secret := range secrets {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := verifier.Verify(body, header); err != nil {
				t.Fatalf("%v: %q", err, signature)
			}
		}
		other, _ := standardwebhooks.NewWebhook(NewSecret())
		if other.Verify(body, header) == nil {
			t.Fatal("another secret verifies the signature as well")
		}
	})
}

// The Go client verifies what the official library signs. Its own tests only
// use the standard library.
func TestClientAcceptsTheOfficialLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`evt_[0-9a-z]{26}`).Draw(t, "id")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		now := time.Now()
		secrets, signatures := make([]string, rapid.IntRange(1, 3).Draw(t, "secrets")), []string{}
		for i := range secrets {
			secrets[i] = NewSecret()
			signer, err := standardwebhooks.NewWebhook(secrets[i])
			if err != nil {
				t.Fatal(err)
			}
			signature, err := signer.Sign(id, now, body)
			if err != nil {
				t.Fatal(err)
			}
			signatures = append(signatures, signature)
		}
		header := http.Header{headerID: {id}, headerTimestamp: {strconv.FormatInt(now.Unix(), 10)}, headerSignature: {strings.Join(signatures, " ")}}
		for _, secret := range secrets {
			if err := client.VerifyWebhook(header, body, secret); err != nil {
				t.Fatalf("%v: %q", err, signatures)
			}
		}
		if err := client.VerifyWebhook(header, body, NewSecret()); !errors.Is(err, client.ErrWebhookSignature) {
			t.Fatalf("another secret: %v", err)
		}
	})
}

func TestUnusableSecretsAreNotShown(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"whsec_"}, {"whsec_not base64"}, {NewSecret(), "whsec_not base64"}} {
		got, err := sign("evt_1", 1, nil, secrets)
		if err == nil || got != "" || strings.Contains(err.Error(), "base64") {
			t.Errorf("sign with %q = %q, %v", secrets, got, err)
		}
	}
}

func TestNewSecret(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a, "whsec_"))
	if a == b || !strings.HasPrefix(a, "whsec_") || err != nil || len(key) < 24 || len(key) > 64 {
		t.Errorf("secrets of %d bytes (%v); the specification wants 24 to 64", len(key), err)
	}
}

func BenchmarkSign(b *testing.B) {
	secrets, body := []string{NewSecret()}, []byte(strings.Repeat("x", 300))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sign("evt_01h000000000000000000000000", 1614265330, body, secrets); err != nil {
			b.Fatal(err)
		}
	}
}
