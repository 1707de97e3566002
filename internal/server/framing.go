package server

import (
	"bytes"
	"strconv"
)

// framing tracks the requests on an HTTP/1 connection to detect what net/http
// does not report: a header with both Content-Length and Transfer-Encoding. If
// two programs in a chain read such a request differently, part of its body
// can be smuggled as another request, so it is rejected; see
// docs/decisions/0038-connection-limit.md.
//
// Data is passed on one request at a time. So the last header tracked is that
// of the request being handled, and any disagreement with net/http about where
// a request ends would be detected (settled).
type framing struct {
	phase phase
	left  uint64 // remaining bytes of a body or chunk
	line  []byte // start of the current line
	begun int    // bytes of this request so far

	heads, handled  int // requests with a complete header, and requests handled
	length, coded   bool
	size            uint64
	chunked, faulty bool
	held            []byte // data read beyond the end of the request
}

type phase byte

const (
	inHead phase = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	lost // framing is unknown: reject what follows and close the connection
)

// keptLine is how much of a line is examined, which is more than any relevant
// line has.
const keptLine = 256

// read reads with from, up to the end of a request.
func (f *framing) read(p []byte, from func([]byte) (int, error)) (n int, err error) {
	if len(f.held) > 0 {
		n = copy(p, f.held)
		f.held = f.held[n:]
	} else if n, err = from(p); n <= 0 {
		return n, err
	}
	if end := f.follow(p[:n]); end < n {
		f.held = append(bytes.Clone(p[end:n]), f.held...)
		return end, nil
	}
	return n, err
}

// follow processes bytes up to the end of a request and returns their number.
func (f *framing) follow(b []byte) (taken int) {
	for taken < len(b) {
		rest := b[taken:]
		n, ended := len(rest), false
		switch f.phase {
		case inBody, inChunk, inChunkEnd:
			n = int(min(uint64(n), f.left))
			if f.left -= uint64(n); f.left == 0 {
				ended = f.bodyEnds()
			}
		case inHead, inChunkSize, inTrailer:
			if at := bytes.IndexByte(rest, '\n'); at >= 0 {
				n = at + 1
				ended = f.lineEnds(rest[:at])
			} else {
				f.keep(rest)
			}
		case lost:
		}
		taken += n
		f.begun += n
		if ended {
			f.begun = 0
			return taken
		}
	}
	return taken
}

func (f *framing) keep(part []byte) {
	if room := keptLine - len(f.line); room > 0 {
		f.line = append(f.line, part[:min(room, len(part))]...)
	}
}

// bodyEnds moves on after the last byte of a body, a chunk or a chunk's end,
// and reports whether the request is complete.
func (f *framing) bodyEnds() bool {
	switch f.phase {
	case inChunk:
		f.phase, f.left = inChunkEnd, uint64(len("\r\n"))
	case inChunkEnd:
		f.phase = inChunkSize
	default:
		f.phase = inHead
		return true
	}
	return false
}

// lineEnds processes the last part of a line and reports whether the request
// ends with it.
func (f *framing) lineEnds(part []byte) (ended bool) {
	line := part
	if len(f.line) > 0 {
		f.keep(part)
		line = f.line
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch f.phase {
	case inHead:
		ended = f.headLine(line)
	case inChunkSize:
		f.chunkSize(line)
	case inTrailer:
		if len(line) == 0 {
			f.phase, ended = inHead, true
		}
	}
	f.line = f.line[:0]
	return ended
}

func (f *framing) headLine(line []byte) (ended bool) {
	switch {
	case len(line) == 0 && f.begun <= len("\r\n\r\n"):
		// Empty lines before a request, which net/http skips after a POST.
	case len(line) == 0:
		return f.headEnds()
	case line[0] == 'C' || line[0] == 'c' || line[0] == 'T' || line[0] == 't':
		f.header(line)
	case line[0] == ' ' || line[0] == '\t':
		// A continuation of the previous header. One that matters would have
		// been rejected for its empty value.
	}
	return false
}

func (f *framing) header(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	name, value = bytes.TrimSpace(name), bytes.Trim(value, " \t")
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		size, err := strconv.ParseUint(string(value), 10, 63)
		f.faulty = f.faulty || err != nil || f.length && size != f.size
		f.length, f.size = true, size
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		f.faulty = f.faulty || f.coded || !bytes.EqualFold(value, []byte("chunked"))
		f.coded = true
	}
}

// headEnds determines what follows a header, and reports whether the request
// has no body.
func (f *framing) headEnds() bool {
	f.heads++
	f.chunked = f.coded
	f.faulty = f.faulty || f.length && f.coded
	size := f.size
	f.length, f.coded, f.size = false, false, 0
	switch {
	case f.faulty:
		f.phase = lost
	case f.chunked:
		f.phase = inChunkSize
	case size > 0:
		f.phase, f.left = inBody, size
	default:
		return true
	}
	return false
}

func (f *framing) chunkSize(line []byte) {
	line, _, _ = bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(line, " \t")), 16, 64)
	switch {
	case err != nil:
		f.phase = lost // net/http rejects it too
	case size == 0:
		f.phase = inTrailer
	default:
		f.phase, f.left = inChunk, size
	}
}

// handle reports whether the request about to be handled has valid framing.
// old is set for HTTP/1.0, which has no Transfer-Encoding.
func (f *framing) handle(old bool) bool {
	f.handled++
	return !f.faulty && f.heads == f.handled && !(old && f.chunked)
}

// settled reports whether the handled request ended where net/http says it
// did. net/http may already have read the first byte of the next request, to
// detect a disconnect.
func (f *framing) settled() bool {
	return f.phase == inHead && f.begun <= 1 && f.heads == f.handled
}
