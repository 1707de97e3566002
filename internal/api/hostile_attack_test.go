package api

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// attack is a good request on its way to become a bad one.
type attack struct {
	*rand.Rand
	parameters []string
	ways       []string // in which it was spoilt

	base   *http.Request
	method string
	path   string // escaped
	query  string // raw
	header http.Header
	body   []byte
	// chunked sends the body without its length.
	chunked bool
}

func newAttack(number uint64, parameters []string, base *http.Request) *attack {
	body, err := io.ReadAll(base.Body)
	if err != nil {
		panic(err) // it is in memory
	}
	return &attack{
		Rand: rand.New(rand.NewPCG(number, 1)), parameters: parameters, base: base, method: base.Method,
		path: base.URL.EscapedPath(), query: base.URL.RawQuery, header: base.Header.Clone(), body: body,
	}
}

// spoil changes the request in one to three ways.
func (a *attack) spoil() {
	ways := []struct {
		name  string
		spoil func()
	}{
		{"method", a.spoilMethod}, {"path", a.spoilPath}, {"query", a.spoilQuery}, {"query", a.spoilQuery}, {"header", a.spoilHeader}, {"header", a.spoilHeader},
		{"body", a.spoilBody}, {"bytes", a.spoilBytes}, {"value", a.spoilValue}, {"value", a.spoilValue}, {"member", a.spoilMember},
	}
	for range 1 + a.IntN(3) {
		way := ways[a.IntN(len(ways))]
		way.spoil()
		a.ways = append(a.ways, way.name)
	}
}

// request is the request as it is sent. What net/http itself would refuse,
// on either side, is not made: the service never sees it.
func (a *attack) request() *http.Request {
	path, err := url.PathUnescape(a.path)
	if err != nil {
		panic(err) // a mistake in this file
	}
	r := a.base.Clone(a.base.Context())
	r.Method, r.Header = a.method, a.header
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, a.path, a.query
	r.Body, r.ContentLength = http.NoBody, 0
	if len(a.body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
		if a.chunked {
			r.ContentLength = -1
		}
	}
	r.GetBody = nil
	return r
}

func (a *attack) one(of []string) string { return of[a.IntN(len(of))] }

func (a *attack) spoilMethod() {
	a.method = a.one([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "get", "X-" + strings.Repeat("Y", 500)})
}

// long is text beyond every limit on text.
var long = strings.Repeat("Ab9-", 8<<10)

// Segments of a path, escaped.
var hostileSegments = []string{
	"", ".", "..", "%2e%2e", "%2E", "%2F", "%5C..%5C", "%00", "%0d%0aX-Injected:%201", "%ff%fe", "%C0%AF", "%ED%A0%80", "%F0%9F%92%8A", "*", "~", "{id}", "null", "0", "-1",
	"pat_", "pat_zzzzzzzzzzzzzzzzzzzzzzzzzz", "pat_00000000000000000000000000", "rec_7zzzzzzzzzzzzzzzzzzzzzzzzz", "PAT_01kf0k8y20a14c3emmv2g2jemj", "whk_01kf0k8y20a14c3emmv2g2jemj%00",
	"'%20OR%201=1--", ";x=1", "a%3Fb", "%25", "%2525", "$%7Bjndi:x%7D", "..%2f..%2fetc%2fpasswd", strings.Repeat("a", 5000),
}

func (a *attack) spoilPath() {
	segments := strings.Split(a.path, "/")[1:]
	at := a.IntN(len(segments))
	switch a.IntN(7) {
	case 0, 1, 2:
		segments[at] = a.one(hostileSegments)
	case 3:
		segments = slices.Insert(segments, at, a.one(hostileSegments))
	case 4:
		segments = append(segments, a.one(hostileSegments))
	case 5:
		segments[at] = strings.ToUpper(segments[at])
	case 6:
		segments[0] = a.one([]string{"v2", "V1", "v1%2f", "v0", "oauth", "portal", "docs", ".well-known"})
	}
	a.path = "/" + strings.Join(segments, "/")
}

// Values of query parameters, not escaped. None of them is a wait of a second
// or more.
var hostileTexts = []string{
	"", " ", "0", "-0", "-1", "1.5", "1e9", "0x10", "+5", " 7", "7 ", "٣", "NaN", "Infinity", "null", "undefined", "true", "TRUE", "yes", "[]", "{}", "[1]",
	"2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999",
	"2025-02-30", "2025-13-01", "0000-00-00", "0000-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2025-1-1", "2025-01-01T00:00:00Z", "2025/01/01", "20250101", "1899-12-31",
	"\x00", "a\x00b", "\xff\xfe", "\xed\xa0\x80", "\xc0\xaf", "\u202e\u0000", "\ufeff", "\u0301\u0301\u0301", "ﷺ", "%", "_", "\\", "'; DROP TABLE patients; --", `" OR ""="`, "../../etc/passwd",
	"pat_", "pat_\x00", "pain_scores,,", ",", "pain_scores,nothing", "desc,asc", "patient.created,*", "\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "${jndi:ldap://x}", long,
}

func (a *attack) spoilQuery() {
	add := func(raw string) {
		if a.query != "" {
			a.query += "&"
		}
		a.query += raw
	}
	pair := func(name string) string { return url.QueryEscape(name) + "=" + url.QueryEscape(a.one(hostileTexts)) }
	switch a.IntN(6) {
	case 0, 1, 2:
		add(pair(a.one(a.parameters)))
	case 3: // twice
		name := a.one(a.parameters)
		add(pair(name) + "&" + pair(name))
	case 4: // unknown
		add(pair(a.one([]string{"serach", "Page", "limit[]", "page%00", "", "\xff", "__proto__", "patientId", strings.Repeat("p", 3000)})))
	case 5: // no query at all
		add(a.one([]string{"%zz", "%", "a;b", "&&&", "=", "==", "page", "page=%", "limit=%ff", "?page=1", "page=1?limit=2", "+", "%00=%00", strings.Repeat("a=1&", 4000)}))
	}
}

// hostileHeaders has values for headers that mean something here, or might.
// Values are bytes: those beyond ASCII are legal on the wire.
var hostileHeaders = map[string][]string{
	"Content-Type": {
		"", "text/plain", "application/xml", "application/json; charset=utf-16", "application/json; charset=", "application/json;;;", "application/json, text/html", "json", "/", ";", "\xff",
		"multipart/form-data", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/merge-patch+json", "application/vnd.api+json", "a/" + strings.Repeat("b", 3000),
	},
	"Authorization": {
		"", "Bearer", "Bearer ", "Bearer  x", "bearer at_x", "Bearer at_\xff", "Bearer null", "Basic", "Basic !!!", "Basic Og==", "Basic YTpi", "Digest x", "Negotiate", "Bearer " + long, "at_x",
	},
	"Idempotency-Key":        {"", " ", "\xff\xfe", "key\tkey", "ключ", "'; --", "*", strings.Repeat("k", 256), long},
	"If-Match":               {"", "*", "**", `"1`, `W/"1"`, `"1", "2", *`, `"99999999999999999999"`, `"-1"`, "1", "\xff", long},
	"If-None-Match":          {"", "*", `"`, `W/"1", W/`, `"0"`, ",,,,", "\xff", long},
	"If-Modified-Since":      {"yesterday", "Sun, 99 Foo 2026 99:99:99 GMT"},
	"Accept":                 {"", "text/html", "application/xml", "*/*;q=0", "image/*, \xff", ";;;q=q", long},
	"Accept-Encoding":        {"", "gzip;q=0", "gzip;q=2", "br", "gzip, gzip, *;q=", "identity;q=0, *;q=0", "\xff"},
	"Accept-Language":        {"\xff", "tlh"},
	"Content-Encoding":       {"gzip", "br", "identity", "aes128gcm"},
	"Content-Language":       {"\xff"},
	"Range":                  {"bytes=0-", "bytes=-1", "bytes=9999999999999999999-", "bytes=5-1", "lines=1-2", "bytes=0-0,0-0,0-0,0-0", "bytes="},
	"X-Request-Id":           {"", "\xff", "a b", "<x>", "req_\u0301", "%0d%0a", strings.Repeat("r", 129), long},
	"X-Forwarded-For":        {"", "127.0.0.1", "::1", "999.1.1.1", "\xff", "1.2.3.4, 5.6.7.8, , ,", long},
	"X-Http-Method-Override": {"DELETE", "CONNECT"},
	"X-Original-Url":         {"/v1/audit", "/admin"},
	"Origin":                 {"null", "https://evil.example", "\xff", "file://"},
	"Cookie":                 {"session=x; session=y", "=;=;=", "\xff", long},
	"Upgrade":                {"websocket", "h2c"},
	"X-Padding":              {strings.Repeat("z", 40<<10)},
}

var hostileHeaderNames = slices.Sorted(maps.Keys(hostileHeaders))

func (a *attack) spoilHeader() {
	name := a.one(hostileHeaderNames)
	value := a.one(hostileHeaders[name])
	switch a.IntN(5) {
	case 0:
		a.header.Add(name, value) // beside a good one, if there is one
	case 1:
		delete(a.header, a.one([]string{"Authorization", "Content-Type", name}))
	default:
		a.header[name] = []string{value}
	}
}

// hostileBodies are whole bodies, none over 256 KiB: beyond that, net/http
// closes the connection on an unread body, and the response may be lost.
var hostileBodies = []string{
	"", " ", "\n\n", "null", "true", "0", `""`, "[]", "{}", "[{}]", "{", "}", `{"`, `{"a"}`, "{,}", "{}{}", "{} x", "nul", "\xef\xbb\xbf{}", "\xff\xfe{\x00}\x00", "\x1f\x8b\x08\x00\x00",
	`{"a":1,"a":2}`, `{"":""}`, `{"\u0000":0}`, `{"\ud800":"\udfff"}`, "{\"\xff\":1}", `{"__proto__":{"a":1}}`, `{'a':1}`, `{a:1}`, `{"a":1,}`, `{"a":/**/1}`,
	strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 20_000), `{"a":"` + long + long + `"}`, `{"records":[` + strings.Repeat("{},", 1200) + "{}]}", `{"records":[]}`, `{"records":{}}`,
	"name=Arlo&date_of_birth=1990-01-01", "<patient/>", "--x\r\nContent-Disposition: form-data\r\n\r\n", "grant_type=client_credentials&grant_type=password", "grant_type=%ff&client_id=%00&client_secret=%zz", "&&=&=",
	strings.Repeat("a=b&", 20_000),
}

// spoilBody replaces the body.
func (a *attack) spoilBody() {
	a.body = []byte(a.one(hostileBodies))
	a.chunked = a.IntN(4) == 0
}

// spoilBytes damages the body as a bad line would.
func (a *attack) spoilBytes() {
	if len(a.body) == 0 {
		a.spoilBody()
		return
	}
	at := a.IntN(len(a.body))
	switch a.IntN(4) {
	case 0:
		a.body = a.body[:at]
	case 1:
		a.body[at] = byte(a.IntN(256))
	case 2:
		a.body = slices.Insert(a.body, at, byte(a.IntN(256)))
	case 3:
		a.body = slices.Concat(a.body, a.body[at:])
	}
}

// hostileValues are field values as written in a body. Some are not JSON.
var hostileValues = []string{
	"null", "true", "false", "0", "-0", "-1", "11", "1.5", "1e400", "-1e400", "1e-400", "123456789012345678901234567890", "0.1000000000000000000000000001", "01", "+1", ".5", "1.", "0x1", "NaN", "Infinity",
	`""`, `" "`, `"\u0000"`, `"a\u0000b"`, `"\ud800"`, `"\udc00\ud800"`, `"\u202e"`, `"\ufffe"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\x01\"", `"\x"`, `"`, `"0"`, `"1970-02-30"`, `"9999-12-31T23:59:60Z"`, `"0001-01-01T00:00:00+23:59"`,
	`"https://user:pass@[::1]:99999/#f"`, `"https://"`, `"http://127.0.0.1/"`, `"javascript:alert(1)"`, `"` + long + `"`,
	"[]", "{}", "[null]", "[[]]", `{"":null}`, "[" + strings.Repeat("0,", 2000) + "0]", `["` + strings.Repeat(`a","`, 600) + `a"]`,
	strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"value":`, 100) + "1" + strings.Repeat("}", 100),
}

// spoilValue replaces a value anywhere in a JSON body with a hostile one.
func (a *attack) spoilValue() {
	var body any
	if json.Unmarshal(a.body, &body) != nil {
		a.spoilBytes()
		return
	}
	at := a.IntN(countValues(body))
	a.body = appendSpoilt(nil, body, &at, a.one(hostileValues))
}

// spoilMember adds a field, duplicates all of them, or removes one.
func (a *attack) spoilMember() {
	var body map[string]json.RawMessage
	if json.Unmarshal(a.body, &body) != nil || len(body) == 0 {
		a.spoilBytes()
		return
	}
	name := a.one(slices.Sorted(maps.Keys(body)))
	inside := bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(a.body), []byte("{")), []byte("}"))
	switch a.IntN(4) {
	case 0:
		a.body = slices.Concat([]byte(`{"`+a.one([]string{"Name", "nmae", "id", "org", "created_at", "\x00", "status", long})+`":1,`), inside, []byte("}"))
	case 1:
		a.body = slices.Concat([]byte("{"), inside, []byte(","), inside, []byte("}"))
	case 2:
		a.body = bytes.Replace(a.body, []byte(`"`+name+`"`), []byte(`"`+strings.ToUpper(name)+`"`), 1)
	case 3:
		delete(body, name)
		a.body = []byte(quoteAny(body))
	}
}

func countValues(value any) int {
	count := 1
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			count += countValues(item)
		}
	case map[string]any:
		for _, member := range value {
			count += countValues(member)
		}
	}
	return count
}

// appendSpoilt writes JSON, and other text in place of the value with number
// *at, in the order of writing.
func appendSpoilt(b []byte, value any, at *int, other string) []byte {
	if *at--; *at == -1 {
		return append(b, other...)
	}
	switch value := value.(type) {
	case []any:
		b = append(b, '[')
		for i, item := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSpoilt(b, item, at, other)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(name)...), ':')
			b = appendSpoilt(b, value[name], at, other)
		}
		return append(b, '}')
	}
	return append(b, quoteAny(value)...)
}
