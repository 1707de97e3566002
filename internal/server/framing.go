package server

import (
	"bytes"
	"strconv"
)

// framing follows the requests on a connection of HTTP/1, to see what net/http
// does not tell: whether a head has both a Content-Length and a
// Transfer-Encoding. Two programs that read such a request differently, one
// behind the other, can be made to take a part of its body for another request
// (request smuggling), so it is refused; see
// docs/decisions/0038-callers-that-hold-others-up.md.
//
// What is read is handed on one request at a time. So the head that was followed
// last is that of the request that is being handled, and when the two readers
// ever came to different ends, that would show (settled).
type framing struct {
	phase phase
	left  uint64 // of a body or a chunk
	line  []byte // the start of the line that is being read
	begun int    // bytes of this request so far

	heads, handled  int // requests whose head was read, and those that were handled
	length, coded   bool
	size            uint64
	chunked, faulty bool
	held            []byte // read, and behind the end of the request
}

type phase byte

const (
	inHead phase = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	lost // what follows is refused, and the connection closed
)

// keptLine is how much of a line is looked at: more than any that counts has.
const keptLine = 256

// read reads by from, up to the end of a request.
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

// follow takes in bytes up to the end of a request, and says how many.
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

// bodyEnds goes on after the last byte of a body, a chunk or a chunk's end, and
// reports whether that was the request's.
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

// lineEnds takes in the last part of a line, and reports whether the request
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
		// Empty lines before a request, which net/http passes over after a POST.
	case len(line) == 0:
		return f.headEnds()
	case line[0] == 'C' || line[0] == 'c' || line[0] == 'T' || line[0] == 't':
		f.header(line)
	case line[0] == ' ' || line[0] == '\t':
		// It belongs to the header before; one that counts would have been
		// found faulty for having no value.
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

// headEnds decides what follows a head, and reports whether nothing does.
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
		f.phase = lost // net/http refuses it too
	case size == 0:
		f.phase = inTrailer
	default:
		f.phase, f.left = inChunk, size
	}
}

// handle reports whether the request that is about to be handled is sound. old
// is true for HTTP/1.0, which has no Transfer-Encoding.
func (f *framing) handle(old bool) bool {
	f.handled++
	return !f.faulty && f.heads == f.handled && !(old && f.chunked)
}

// settled reports whether the end of the request that was handled is where
// net/http has found it. It may have read the first byte of the next already,
// to notice when the caller leaves.
func (f *framing) settled() bool {
	return f.phase == inHead && f.begun <= 1 && f.heads == f.handled
}
