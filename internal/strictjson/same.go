package strictjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Same reports whether two values are equal: white space, the order of fields
// and the way in which strings are escaped do not matter, but the digits of
// numbers do.
func Same(a, b Value) bool {
	rawA, rawB := a.raw(), b.raw()
	if bytes.Equal(rawA, rawB) {
		return true
	}
	n, m := a.node(), b.node()
	if n.kind != m.kind || n.count != m.count {
		return false
	}
	switch n.kind {
	case jsontext.KindString:
		return (bytes.IndexByte(rawA, '\\') >= 0 || bytes.IndexByte(rawB, '\\') >= 0) && unquote(rawA) == unquote(rawB)
	case jsontext.KindBeginArray:
		y := b.at + 1
		for x := a.at + 1; x < n.next; x = a.doc.nodes[x].next {
			if !Same(Value{a.doc, x}, Value{b.doc, y}) {
				return false
			}
			y = b.doc.nodes[y].next
		}
		return true
	case jsontext.KindBeginObject:
		return sameFields(&Object{a}, &Object{b})
	}
	return false
}

// sameFields compares objects with the same number of fields. Most often these
// are in the same order.
func sameFields(a, b *Object) bool {
	find := b.find
	if a.Len() > mostScanned {
		find = b.index()
	}
	y := b.at + 1
	for x := a.at + 1; x < a.node().next; x = a.doc.nodes[x].next {
		at, name := y, a.doc.nameText(x)
		if !bytes.Equal(name, b.doc.nameText(y)) {
			var ok bool
			if at, ok = find(string(name)); !ok {
				return false
			}
		}
		if !Same(Value{a.doc, x}, Value{b.doc, at}) {
			return false
		}
		y = b.doc.nodes[y].next
	}
	return true
}

// index returns find for an object with many fields.
func (o *Object) index() func(name string) (at uint32, ok bool) {
	fields := make(map[string]uint32, o.Len())
	for at := o.at + 1; at < o.node().next; at = o.doc.nodes[at].next {
		fields[o.doc.name(at)] = at
	}
	return func(name string) (uint32, bool) {
		at, ok := fields[name]
		return at, ok
	}
}
