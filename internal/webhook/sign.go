package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// The headers of Standard Webhooks, in canonical form.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret returns a new signing secret.
func NewSecret() string {
	var key [secretBytes]byte
	rand.Read(key[:]) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// errSecret does not reveal the secret.
var errSecret = errors.New("cannot read a signing secret of this webhook")

// sign returns the signature header of Standard Webhooks v1: for each secret,
// "v1," and the HMAC-SHA256 of id, timestamp and body.
//
// It does not use the official library, which copies the body to a string for
// each secret; tests compare it with that library.
func sign(id string, timestamp int64, body []byte, secrets []string) (string, error) {
	head := make([]byte, 0, 64)
	head = append(append(head, id...), '.')
	head = append(strconv.AppendInt(head, timestamp, 10), '.')
	header := make([]byte, 0, 2*len("v1, ")+2*base64.StdEncoding.EncodedLen(sha256.Size))
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil || len(key) == 0 {
			return "", errSecret
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(head)
		mac.Write(body)
		if i > 0 {
			header = append(header, ' ')
		}
		header = append(header, "v1,"...)
		header = base64.StdEncoding.AppendEncode(header, mac.Sum(nil))
	}
	if len(header) == 0 {
		return "", errSecret
	}
	return string(header), nil
}
