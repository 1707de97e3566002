package bench

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		status int
		err    error
	}{
		"plain":             {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, nil},
		"any case":          {"HTTP/1.1 201 Created\r\nX: content-length: 9\r\ncontent-LENGTH:2\r\n\r\n{}", 201, nil},
		"no body":           {"HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n", 304, nil},
		"no length":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, errNoLength},
		"bad length":        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 200, errAnswer},
		"bad status":        {"HTTP/1.1 abc OK\r\n\r\n", 0, errAnswer},
		"another protocol":  {"SSH-2.0-OpenSSH_9.9 hello\r\n", 0, errAnswer},
		"short status line": {"HTTP/1.1\r\n", 0, errAnswer},
		"nothing":           {"", 0, io.EOF},
		"cut in the header": {"HTTP/1.1 200 OK\r\nContent-", 200, io.EOF},
		"cut in the body":   {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 200, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			status, err := readAnswer(bufio.NewReader(strings.NewReader(tt.text)))
			if status != tt.status || !errors.Is(err, tt.err) {
				t.Errorf("got %d, %v; want %d, %v", status, err, tt.status, tt.err)
			}
		})
	}
}

func TestReadAnswerLeavesTheNextOne(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\nHTTP/1.1 500 no\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
	r := bufio.NewReader(strings.NewReader(text))
	for _, want := range []int{200, 404} {
		if status, err := readAnswer(r); status != want || err != nil {
			t.Errorf("got %d, %v; want %d", status, err, want)
		}
	}
}

func TestReadAnswerAllocatesNothing(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	source := strings.NewReader(text)
	r := bufio.NewReader(source)
	if allocs := testing.AllocsPerRun(100, func() {
		source.Reset(text)
		r.Reset(source)
		if _, err := readAnswer(r); err != nil {
			t.Error(err)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations an answer", allocs)
	}
}
