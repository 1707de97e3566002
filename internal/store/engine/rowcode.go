package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Each value of a row in a backup starts with a tag for its type.
const (
	tagNull  = 0
	tagInt   = 1 // signed varint
	tagText  = 2 // length and bytes
	tagBytes = 3
)

// maxValue bounds the memory allocated for one value, in case a damaged file
// contains a wrong length.
const maxValue = 256 << 20

// AppendRow appends the encoding of a row to dst. It does not depend on the
// engine.
func (t *Table) AppendRow(dst []byte, r Row) []byte {
	for i, c := range t.Columns {
		switch {
		case r.IsNull(i):
			dst = append(dst, tagNull)
		case c.Type == Integer:
			dst = binary.AppendVarint(append(dst, tagInt), r.Int(i))
		default:
			tag, raw := byte(tagText), r.Raw(i)
			if c.Type == Bytes {
				tag = tagBytes
			}
			dst = binary.AppendUvarint(append(dst, tag), uint64(len(raw)))
			dst = append(dst, raw...)
		}
	}
	return dst
}

var errEncoding = errors.New("the row has an invalid encoding")

// value is an encoded value: its tag, and the bytes that follow.
type value struct {
	tag byte
	n   int64  // of an integer
	raw []byte // of a text or bytes
}

// take reads the value at the start of b and returns what follows it. whole is
// false if b ends within the value.
func take(b []byte) (v value, rest []byte, whole bool, err error) {
	if len(b) == 0 {
		return v, nil, false, nil
	}
	v.tag, b = b[0], b[1:]
	switch v.tag {
	case tagNull:
		return v, b, true, nil
	case tagInt:
		n, size := binary.Varint(b)
		if size < 0 {
			return v, nil, false, errEncoding
		}
		v.n = n
		return v, b[size:], size > 0, nil
	case tagText, tagBytes:
		length, size := binary.Uvarint(b)
		if size < 0 || length > maxValue {
			return v, nil, false, errEncoding
		}
		if b = b[size:]; size == 0 || uint64(len(b)) < length {
			return v, nil, false, nil
		}
		v.raw = b[:length]
		return v, b[length:], true, nil
	}
	return v, nil, false, errEncoding
}

// fits reports whether a column can have values with a tag.
func (c *Column) fits(tag byte) bool {
	switch tag {
	case tagInt:
		return c.Type == Integer
	case tagText:
		return c.Type == Text
	case tagBytes:
		return c.Type == Bytes
	}
	return true
}

// RowSize returns the size of the encoded row at the start of b. whole is false if
// b ends within the row.
func (t *Table) RowSize(b []byte) (size int, whole bool, err error) {
	rest := b
	for i := range t.Columns {
		var v value
		if v, rest, whole, err = take(rest); err == nil && whole && !t.Columns[i].fits(v.tag) {
			err = errEncoding
		}
		if err != nil {
			return 0, false, fmt.Errorf("table %s, column %s: %w", t.Name, t.Columns[i].Name, err)
		}
		if !whole {
			return 0, false, nil
		}
	}
	return len(b) - len(rest), true, nil
}

// Row decodes an encoded row, whose size [Table.RowSize] returned, into the
// arguments of an INSERT. They do not refer to b.
func (t *Table) Row(b []byte) []any {
	row := make([]any, len(t.Columns))
	texts, bytes := string(b), []byte(nil)
	rest := b
	for i := range row {
		var v value
		if v, rest, _, _ = take(rest); v.tag == tagNull {
			continue
		}
		end := len(b) - len(rest)
		switch v.tag {
		case tagInt:
			row[i] = v.n
		case tagText:
			row[i] = texts[end-len(v.raw) : end]
		case tagBytes:
			if bytes == nil {
				bytes = []byte(texts)
			}
			row[i] = bytes[end-len(v.raw) : end : end]
		}
	}
	return row
}
