package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

var (
	errAnswer   = errors.New("the server sent something that is no HTTP/1.1 answer")
	errNoLength = errors.New("the server sent an answer without Content-Length")
)

var contentLength = []byte("content-length")

// readAnswer reads one response and returns its status. It only parses the
// status line and the Content-Length, because the load generator must use as
// little CPU as possible.
func readAnswer(r *bufio.Reader) (status int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	const prefix = "HTTP/1.1 "
	if len(line) < len(prefix)+3 || string(line[:len(prefix)]) != prefix {
		return 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[len(prefix) : len(prefix)+3])); err != nil {
		return 0, errAnswer
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return status, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte{':'}); len(name) == len(contentLength) && bytes.EqualFold(name, contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 {
				return status, fmt.Errorf("%w: bad Content-Length", errAnswer)
			}
		}
	}
	if length < 0 {
		return status, errNoLength
	}
	_, err = r.Discard(length)
	return status, err
}
