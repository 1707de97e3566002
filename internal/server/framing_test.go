package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// followAll runs requests through framing and through net/http, and says for
// each request whether it was found sound. No sound one may have both headers.
func followAll(t *testing.T, text string, in io.Reader) (sound []bool) {
	t.Helper()
	var f framing
	read := 0
	reader := bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		n, err := f.read(p, in.Read)
		read += n
		return n, err
	}))
	for {
		began := read - reader.Buffered()
		r, err := http.ReadRequest(reader)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				sound = append(sound, false)
			}
			return sound
		}
		ok := f.handle(!r.ProtoAtLeast(1, 1))
		sound = append(sound, ok)
		if !ok {
			return sound // the connection is closed
		}
		head := strings.ToLower(text[began : read-reader.Buffered()])
		if strings.Contains(head, "\ncontent-length:") && strings.Contains(head, "\ntransfer-encoding:") {
			if r.TransferEncoding != nil {
				t.Fatalf("%q is found sound", head)
			}
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return append(sound, false)
		}
		if !f.settled() {
			return append(sound, false) // the connection is closed
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFraming(t *testing.T) {
	t.Parallel()
	const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	post := func(head, body string) string { return "POST / HTTP/1.1\r\nHost: x\r\n" + head + "\r\n" + body }
	chunks := "5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n"
	for text, want := range map[string][]bool{
		get:                                 {true},
		get + get + get:                     {true, true, true},
		"GET / HTTP/1.1\nHost: x\n\n" + get: {true, true},
		post("Content-Length: 5\r\n", "hello") + get:                                                                            {true, true},
		post("Content-Length: 0\r\n", "") + get:                                                                                 {true, true},
		post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello") + get:                                                       {true, true},
		post("Content-Length: 5\r\n", "hello") + "\r\n\r\n" + get:                                                               {true, false}, // http.ReadRequest does not pass over them
		post("transfer-ENCODING:\tChunked \r\n", chunks) + get:                                                                  {true, true},
		post("Transfer-Encoding: chunked\r\n", "0\r\nA: b\r\nContent-Length: 7\r\n\r\n") + get:                                  {true, true},
		post("Transfer-Encoding: chunked\r\n", "3\r\n\r\n\r\r\n0\r\n\r\n") + get:                                                {true, true},
		post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n") + get:                                          {false},
		post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") + get:                                          {false},
		post("content-length: 0\r\nTRANSFER-ENCODING: CHUNKED\r\n", "0\r\n\r\n") + get:                                          {false},
		post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n") + get:                                      {false},
		post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n") + get:                                                           {false},
		post("Content-Length:\r\n 5\r\n", "hello") + get:                                                                        {false},
		post("X: y\r\n Content-Length: 5\r\n", "") + get:                                                                        {true, true},
		post("Transfer-Encoding: chunked, identity\r\n", "") + get:                                                              {false},
		post("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello") + get:                                             {false},
		post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") + get:                                 {false},
		post("Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", "hello") + get:                                             {false},
		post("Transfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n", "hello") + get:                                          {false},
		post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!") + get:                                                      {false},
		post("Content-Length: +5\r\n", "hello") + get:                                                                           {false},
		post("Content-Length: 5, 5\r\n", "hello") + get:                                                                         {false},
		post("Transfer-Encoding: chunked\r\n", "z\r\nhello\r\n0\r\n\r\n") + get:                                                 {true, false},
		post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n") + get:                                                   {true, false},
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello":                                       {false},
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                                                        {false},
		"POST / HTTP/1.0\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello":                                           {true},
		post("X: "+strings.Repeat("a", 10_000)+"\r\nContent-Length: 5\r\n", "hello") + get:                                      {true, true},
		post("Transfer-Encoding: chunked"+strings.Repeat(" ", 500)+"\r\n", "0\r\n\r\n") + get:                                   {true, true},
		post("Content-Length: 5\r\n", "hello") + post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") + get: {true, false},
	} {
		for name, in := range map[string]io.Reader{
			"at once": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)), "by halves": iotest.HalfReader(strings.NewReader(text)),
		} {
			if got := followAll(t, text, in); !equal(got, want) {
				t.Errorf("%s: %q: sound %v, want %v", name, text, got, want)
			}
		}
	}
}

func equal(a, b []bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Whatever is sent, what net/http reads of it is not changed, and no request
// passes that has both headers.
func FuzzFraming(f *testing.F) {
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var kept framing
		in := bytes.NewReader(text)
		var all bytes.Buffer
		for {
			p := make([]byte, 7)
			n, err := kept.read(p, in.Read)
			all.Write(p[:n])
			if err != nil {
				break
			}
		}
		if !bytes.Equal(all.Bytes(), text) {
			t.Fatalf("%q became %q", text, all.Bytes())
		}
		followAll(t, string(text), bytes.NewReader(text))
	})
}
