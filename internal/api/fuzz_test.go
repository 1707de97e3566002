package api

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// target is the handler being fuzzed, in this process and on SQLite, with a
// client without a limit.
type target struct {
	*API
	token      string
	id, secret string
	patient    string
}

func newTarget(f *testing.F) *target {
	f.Helper()
	s := storetest.Open(f, storetest.SQLite)
	secret, hash := oauth.NewSecret()
	client, err := s.System().CreateClient(context.Background(), clients.NewClient{Org: "fuzz", Name: "fuzz", Scopes: access.AllScopes, SecretHash: hash})
	if err != nil {
		f.Fatal(err)
	}
	now := (&clock{}).now
	authority := oauth.New(s, now)
	grant, err := authority.Issue(context.Background(), &client, "")
	if err != nil {
		f.Fatal(err)
	}
	endless := func(_ context.Context, _ access.ClientNo, _, n int64, now time.Time) (ratelimit.Grant, error) {
		return ratelimit.Grant{Granted: n, Used: n, WindowEnd: now.Add(ratelimit.Window)}, nil
	}
	limiter := ratelimit.New(endless, nil, func(int64) int64 { return 0 }, now)
	t := &target{token: grant.Token, id: client.ID.String(), secret: secret}
	t.API = New(Config{Store: s, Authority: authority, Limiter: limiter, Addresses: ratelimit.NewAddresses(1<<40, 10, now),
		Cohorts: cohort.New(1<<20, nil), Now: now, Log: slog.New(slog.DiscardHandler)})
	p := client.Principal()
	t.patient = storetest.AddPatient(f, s.For(&p), "Arlo Finch").ID.String()
	return t
}

// answer sends a request through the handler. A panic there, or any other
// fault of the server, fails the test.
func (t *target) answer(tb testing.TB, method, path, rawQuery, body string, header http.Header) *http.Response {
	tb.Helper()
	request := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: rawQuery}, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Host: "x", RemoteAddr: "192.0.2.1:9", ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
	if header.Get("Authorization") == "" {
		header.Set("Authorization", "Bearer "+t.token)
	}
	recorder := httptest.NewRecorder()
	t.ServeHTTP(recorder, request)
	answer := recorder.Result()
	if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusUnauthorized && underV1(path) {
		tb.Fatalf("%s %s?%q: %d %s", method, path, rawQuery, answer.StatusCode, recorder.Body)
	}
	if answer.ContentLength != int64(recorder.Body.Len()) && answer.StatusCode != http.StatusNotModified && answer.StatusCode != http.StatusNoContent {
		tb.Fatalf("Content-Length %d of %d bytes", answer.ContentLength, recorder.Body.Len())
	}
	return answer
}

func FuzzCreatePatientBody(f *testing.F) {
	for _, body := range []string{fullPatient, `{"name":"A","date_of_birth":"1990-01-01"}`, `{}`, `{"name":`, `[]`, `{"name":"\u0000","date_of_birth":"1990-01-01"}`,
		`{"name":"A","date_of_birth":"1990-01-01","medical_history":[null,1,{}]}`, "\xef\xbb\xbf{}"} {
		f.Add(body, "key")
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, body, key string) {
		header := http.Header{"Idempotency-Key": {key}}
		answer := t.answer(tb, "POST", "/v1/patients", "", body, header)
		if answer.StatusCode != http.StatusCreated {
			return
		}
		// What was taken can be read, and is what was answered.
		created, err := io.ReadAll(answer.Body)
		if err != nil {
			tb.Fatal(err)
		}
		read := t.answer(tb, "GET", answer.Header.Get("Location"), "", "", http.Header{})
		if again, err := io.ReadAll(read.Body); err != nil || string(again) != string(created) {
			tb.Fatalf("created %s, read %s, %v", created, again, err)
		}
	})
}

func FuzzPatchPatientBody(f *testing.F) {
	for _, body := range []string{`{"gender":"x"}`, `{"contact":null}`, `{"contact":{"email":null}}`, `{"name":null}`, `{"medical_history":["a"]}`, `{}`, `null`} {
		f.Add(body)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, body string) {
		answer := t.answer(tb, "PATCH", "/v1/patients/"+t.patient, "", body, http.Header{})
		if answer.StatusCode != http.StatusOK {
			return
		}
		again := t.answer(tb, "PATCH", "/v1/patients/"+t.patient, "", body, http.Header{"If-Match": answer.Header["Etag"]})
		if again.StatusCode != http.StatusOK || again.Header["Etag"][0] != answer.Header["Etag"][0] {
			tb.Fatalf("the same patch again: %d, version %s after %s", again.StatusCode, again.Header["Etag"], answer.Header["Etag"])
		}
	})
}

func FuzzTokenForm(f *testing.F) {
	t := newTarget(f)
	for _, form := range []string{"grant_type=client_credentials&client_id=x&client_secret=y", "grant_type=client_credentials&grant_type=x", "a=%zz", "client_id=cli_01kf14e860rxathabqv1je7gxh&client_secret=",
		"grant_type=password", "scope=patients:read+x", ";", "token=at_x"} {
		f.Add(form)
	}
	f.Fuzz(func(tb *testing.T, form string) {
		for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect"} {
			stranger := http.Header{"Content-Type": {formType}, "Authorization": {"Basic x"}}
			if answer := t.answer(tb, "POST", path, "", form, stranger); answer.StatusCode == http.StatusOK {
				tb.Fatalf("%s takes %q without credentials", path, form)
			}
			t.answer(tb, "POST", path, "", form, http.Header{"Content-Type": {formType}, "Authorization": {basicHeader(t.id, t.secret)}})
		}
	})
}

func FuzzListQuery(f *testing.F) {
	for _, query := range []string{"", "page=1&limit=100", "page=2147483647", "limit=0", "page=1&page=2", "search=a&limit=3", "%zz", "a;b", "page=%31", "serach=x"} {
		f.Add(query)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, query string) { t.answer(tb, "GET", "/v1/patients", query, "", http.Header{}) })
}

func FuzzSearch(f *testing.F) {
	for _, term := range []string{"arlo", "FINCH", "ø", "\u0301", "pat_", "pat_7zzzzzzzzzzzzzzzzzzzzzzzzz", "%", "\x00", "\xff", strings.Repeat("x", 300)} {
		f.Add(term)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, term string) {
		t.answer(tb, "GET", "/v1/patients", url.Values{"search": {term}}.Encode(), "", http.Header{})
	})
}

func FuzzEventsQuery(f *testing.F) {
	for _, cursor := range []string{"", makeCursor(eventCursor, 1), makeCursor(auditCursor, 1, 2), makeCursor(eventCursor, 1<<62), "ZQ", "!"} {
		f.Add(cursor, "50")
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, cursor, limit string) {
		query := url.Values{"after": {cursor}, "limit": {limit}}.Encode()
		t.answer(tb, "GET", "/v1/events", query, "", http.Header{})
		t.answer(tb, "GET", "/v1/audit", query, "", http.Header{})
	})
}

func FuzzBasicHeader(f *testing.F) {
	for _, header := range []string{"", "Basic", "Basic ", "Basic Og==", "basic YTpi", "Basic YTolZmY=", "Basic !", "Bearer x", basicHeader("%61", "b+c")} {
		f.Add(header)
	}
	f.Fuzz(func(tb *testing.T, header string) {
		user, password, ok := basic([]string{header})
		if ok && (user == "" || password == "") {
			tb.Fatalf("%q gives %q and %q", header, user, password)
		}
		// What a client that follows RFC 6749 sends is what is read.
		sent := "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(header)+":"+url.QueryEscape(header)))
		if user, password, ok := basic([]string{sent}); header != "" && (!ok || user != header || password != header) {
			tb.Fatalf("%q is read as %q and %q, %v", header, user, password, ok)
		}
	})
}

func FuzzIfMatch(f *testing.F) {
	for _, match := range []string{`"1"`, "*", `W/"1"`, `"1", "2"`, "", ",,", `"`, "\x00"} {
		f.Add(match)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, match string) {
		changed := t.answer(tb, "PATCH", "/v1/patients/"+t.patient, "", "{}", http.Header{"If-Match": {match}})
		read := t.answer(tb, "GET", "/v1/patients/"+t.patient, "", "", http.Header{"If-None-Match": {match}})
		// What matches strongly matches weakly.
		if changed.StatusCode == http.StatusOK && read.StatusCode != http.StatusNotModified {
			tb.Fatalf("%q: %d and %d", match, changed.StatusCode, read.StatusCode)
		}
	})
}
