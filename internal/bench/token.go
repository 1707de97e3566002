package bench

import "net/http"

// tokenRateGate is the minimum number of tokens per second.
const tokenRateGate = 10_000

// tokenPath issues tokens, each of which is durable before the response. The
// baseline server reads and decodes the same form.
var tokenPath = path{name: "token", title: "POST /oauth/token", method: http.MethodPost, expect: http.StatusOK, rateGate: tokenRateGate, form: true,
	bodies: func() [][]byte { return [][]byte{tokenForm} },
	target: func(b []byte, _ *stock, _ int) []byte { return append(b, "/oauth/token"...) }}

var tokenForm = []byte("grant_type=client_credentials")
