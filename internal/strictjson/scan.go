package strictjson

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// mostScanned is the number of fields up to which comparing each name of an
// object with those before it is faster than a set.
const mostScanned = 48

// scan builds the tree of a valid body in one pass, which takes a quarter of
// the time of the decoder. It returns false for a body that is not valid, and
// for what is rare: escaped names, surrogate pairs and objects with many
// fields. The decoder then decides, so that it alone defines the grammar and
// the errors.
func (doc *document) scan() bool {
	b := doc.body
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '{' {
		return false
	}
	var open [MaxDepth]uint32 // indexes of the enclosing containers
	depth := 0
	var pending node
	for { // at the beginning of a value
		if i == len(b) {
			return false
		}
		pending.start, pending.kind = uint32(i), jsontext.Kind(b[i])
		switch c := b[i]; c {
		case '{', '[':
			if depth == MaxDepth {
				return false
			}
			open[depth] = uint32(len(doc.nodes))
			depth++
			doc.nodes = append(doc.nodes, pending)
			if i = skipSpace(b, i+1); i == len(b) {
				return false
			}
			if b[i] == c+2 { // the closing bracket of either
				break
			}
			if pending = (node{}); c == '{' {
				if i = doc.scanName(i, open[depth-1], &pending); i < 0 {
					return false
				}
			}
			continue
		case '"':
			i, _ = scanString(b, i)
		case 't':
			i = scanWord(b, i, "true")
		case 'f':
			i = scanWord(b, i, "false")
		case 'n':
			i = scanWord(b, i, "null")
		default:
			pending.kind = jsontext.KindNumber
			i = scanNumber(b, i)
		}
		if i < 0 {
			return false
		}
		if kind := pending.kind; kind != jsontext.KindBeginObject && kind != jsontext.KindBeginArray {
			pending.end, pending.next = uint32(i), uint32(len(doc.nodes))+1
			doc.nodes = append(doc.nodes, pending)
			doc.nodes[open[depth-1]].count++
			i = skipSpace(b, i)
		}
		pending = node{}
		for { // after a value, or at the end of an empty container
			if i == len(b) {
				return false
			}
			container := &doc.nodes[open[depth-1]]
			if b[i] == ',' && container.count > 0 {
				i = skipSpace(b, i+1)
				if container.kind == jsontext.KindBeginObject {
					if i = doc.scanName(i, open[depth-1], &pending); i < 0 {
						return false
					}
				}
				break
			}
			if b[i] != byte(container.kind)+2 {
				return false
			}
			container.end, container.next = uint32(i)+1, uint32(len(doc.nodes))
			i = skipSpace(b, i+1)
			if depth--; depth == 0 {
				return i == len(b)
			}
			doc.nodes[open[depth-1]].count++
		}
	}
}

// scanName scans the name of a field and the colon, and returns where the value
// begins, or -1.
func (doc *document) scanName(i int, object uint32, pending *node) int {
	b := doc.body
	if i == len(b) || b[i] != '"' || doc.nodes[object].count == mostScanned {
		return -1
	}
	end, escaped := scanString(b, i)
	if end < 0 || escaped {
		return -1
	}
	name := b[i:end]
	for at := object + 1; at < uint32(len(doc.nodes)); at = doc.nodes[at].next {
		if n := &doc.nodes[at]; string(b[n.name:n.nameEnd]) == string(name) {
			return -1
		}
	}
	pending.name, pending.nameEnd = uint32(i), uint32(end)
	if i = skipSpace(b, end); i == len(b) || b[i] != ':' {
		return -1
	}
	return skipSpace(b, i+1)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func scanWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}

// scanString returns the end of the string that begins at i, or -1.
func scanString(b []byte, i int) (end int, escaped bool) {
	start, ascii := i, true
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			if !ascii && !utf8.Valid(b[start:i]) {
				return -1, false
			}
			return i + 1, escaped
		case c == '\\':
			escaped = true
			length := scanEscape(b[i:])
			if length == 0 {
				return -1, false
			}
			i += length - 1
		case c < ' ':
			return -1, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return -1, false
}

// scanEscape returns the length of an escape, or 0. Surrogates are left to the
// decoder.
func scanEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		const length = len(`\u0000`)
		if len(b) < length {
			return 0
		}
		code := 0
		for _, c := range b[2:length] {
			switch {
			case '0' <= c && c <= '9':
				c -= '0'
			case 'a' <= c && c <= 'f':
				c -= 'a' - 10
			case 'A' <= c && c <= 'F':
				c -= 'A' - 10
			default:
				return 0
			}
			code = code<<4 | int(c)
		}
		if code < 0xd800 || code > 0xdfff {
			return length
		}
	}
	return 0
}

// scanNumber returns the end of the number that begins at i, or -1.
func scanNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	whole := scanDigits(b, i)
	if whole == i || b[i] == '0' && whole > i+1 {
		return -1
	}
	if i = whole; i < len(b) && b[i] == '.' {
		end := scanDigits(b, i+1)
		if end == i+1 {
			return -1
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := scanDigits(b, i)
		if end == i {
			return -1
		}
		i = end
	}
	return i
}

func scanDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}
