// Package strictjson parses a request body that must be exactly one JSON
// object, with typed access to its fields that collects all errors.
//
// Strict follows the contract: no duplicate fields, no invalid UTF-8, no
// trailing data, limited nesting, and no unknown fields. Package jsontext
// implements the grammar; this package adds the tree, a fast path for valid
// bodies, the errors and their paths. The packages that read a body validate
// its values.
package strictjson

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
)

// MaxDepth is the maximum nesting depth of objects and arrays, including the
// body itself.
const MaxDepth = 32

// document is a parsed body: its nodes in text order, with each value as a
// range of the body. A single slice holds the whole tree, so that a body takes
// a handful of allocations however many fields it has.
type document struct {
	body  []byte
	nodes []node
	root  Object
}

// node is one value. The children of an object or array are the nodes that
// follow it, up to next.
type node struct {
	name, nameEnd uint32 // name of the field with its quotes; empty in an array
	start, end    uint32 // the value as sent
	next          uint32 // index of the node after this subtree
	count         uint32 // number of children
	kind          jsontext.Kind
	escapedName   bool
	asked         bool // a reader has asked for this field
}

// decoding is what Parse needs while it runs.
type decoding struct {
	source  bytes.Buffer
	decoder jsontext.Decoder
}

var decodings = sync.Pool{New: func() any { return new(decoding) }}

// rooms has space for trees that are being built.
var rooms = sync.Pool{New: func() any { return new([]node) }}

// mostRoom is the largest such space that is kept, in nodes.
const mostRoom = 1 << 14

// Parse parses body, which must be one JSON object and nothing else. The
// object refers to body, which must not be changed while it is in use. It is
// not safe for concurrent use. The error is an INVALID_BODY fault.
func Parse(body []byte) (*Object, error) {
	if uint64(len(body)) > math.MaxUint32 {
		return nil, invalid("it is too long", 0)
	}
	room := rooms.Get().(*[]node)
	doc := &document{body: body, nodes: (*room)[:0]}
	if !doc.scan() {
		if err := doc.decode(); err != nil {
			return nil, err
		}
	}
	// The tree is copied, so that it takes no more memory than it needs.
	if *room, doc.nodes = doc.nodes, slices.Clone(doc.nodes); cap(*room) <= mostRoom {
		rooms.Put(room)
	}
	doc.root = Object{Value{doc: doc}}
	return &doc.root, nil
}

// decode builds the tree with the decoder, or says what is wrong with the body.
func (doc *document) decode() error {
	work := decodings.Get().(*decoding)
	work.source = *bytes.NewBuffer(doc.body)
	work.decoder.Reset(&work.source)
	doc.nodes = doc.nodes[:0]
	err := doc.read(&work.decoder)
	work.source = bytes.Buffer{}
	work.decoder.Reset(&work.source) // releases the body
	decodings.Put(work)
	return err
}

func (doc *document) read(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case jsontext.KindBeginObject:
	case jsontext.KindInvalid:
		_, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return invalid("it is empty", 0)
		}
		return doc.explain(err)
	default:
		return invalid("it is not an object", int64(skipSpace(doc.body, 0)))
	}

	var open [MaxDepth]uint32 // indexes of the enclosing containers
	depth := 0
	var pending node // holds the name of a field until its value follows
	for {
		kind := d.PeekKind()
		switch kind {
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			if _, err := d.ReadToken(); err != nil {
				return doc.explain(err)
			}
			start := uint32(d.InputOffset()) - 1
			if depth == MaxDepth {
				return invalid("it is nested too deeply", int64(start))
			}
			pending.start, pending.kind = start, kind
			if depth > 0 {
				doc.nodes[open[depth-1]].count++
			}
			open[depth] = uint32(len(doc.nodes))
			depth++
			doc.nodes = append(doc.nodes, pending)
			pending = node{}
		case jsontext.KindEndObject, jsontext.KindEndArray:
			if _, err := d.ReadToken(); err != nil {
				return doc.explain(err)
			}
			depth--
			closed := &doc.nodes[open[depth]]
			closed.end, closed.next = uint32(d.InputOffset()), uint32(len(doc.nodes))
			if depth == 0 {
				return doc.expectEnd(d)
			}
		default:
			value, err := d.ReadValue()
			if err != nil {
				return doc.explain(err)
			}
			end := uint32(d.InputOffset())
			start := end - uint32(len(value))
			container := &doc.nodes[open[depth-1]]
			if container.kind == jsontext.KindBeginObject && pending.nameEnd == 0 {
				pending.name, pending.nameEnd = start, end
				pending.escapedName = bytes.IndexByte(value, '\\') >= 0
				continue
			}
			container.count++
			pending.start, pending.end, pending.kind = start, end, kind
			pending.next = uint32(len(doc.nodes)) + 1
			doc.nodes = append(doc.nodes, pending)
			pending = node{}
		}
	}
}

// expectEnd returns an error if anything but white space follows.
func (doc *document) expectEnd(d *jsontext.Decoder) error {
	if next := skipSpace(doc.body, int(d.InputOffset())); next < len(doc.body) {
		return invalid("more data follows the object", int64(next))
	}
	return nil
}

// explain converts a decoder's error to a message for the caller. The
// decoder's own message quotes the body, which must not appear in messages or
// logs.
func (doc *document) explain(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return invalid("it is not valid JSON", 0)
	}
	offset := min(max(syntax.ByteOffset, 0), int64(len(doc.body)))
	rest := doc.body[offset:]
	r, size := utf8.DecodeRune(rest)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return invalid("a field occurs twice in one object", offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return invalid("it ends too early", offset)
	case r == utf8.RuneError && size <= 1:
		return invalid("it is not valid UTF-8", offset)
	case bytes.HasPrefix(rest, []byte(`\`)):
		return invalid("a string contains an invalid escape", offset)
	}
	return invalid("it is not valid JSON", offset)
}

func invalid(reason string, offset int64) error {
	return fault.New(fault.InvalidBody, "The body must be one JSON object: "+reason+".",
		"reason", reason, "offset", offset)
}
