package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// ReadRow decodes a row into the arguments of an INSERT, and appends its
// encoding to raw.
func (t *Table) ReadRow(in interface {
	io.Reader
	io.ByteReader
}, raw []byte) (row []any, _ []byte, err error) {
	row = make([]any, len(t.Columns))
	for i, c := range t.Columns {
		tag, err := in.ReadByte()
		if err != nil {
			return nil, raw, err
		}
		raw = append(raw, tag)
		switch {
		case tag == tagNull:
		case tag == tagInt && c.Type == Integer:
			n, err := binary.ReadVarint(in)
			if err != nil {
				return nil, raw, err
			}
			row[i], raw = n, binary.AppendVarint(raw, n)
		case tag == tagText && c.Type == Text, tag == tagBytes && c.Type == Bytes:
			length, err := binary.ReadUvarint(in)
			if err != nil {
				return nil, raw, err
			}
			if length > maxValue {
				return nil, raw, errEncoding
			}
			value := make([]byte, length)
			if _, err := io.ReadFull(in, value); err != nil {
				return nil, raw, err
			}
			raw = append(binary.AppendUvarint(raw, length), value...)
			if row[i] = value; tag == tagText {
				row[i] = string(value)
			}
		default:
			return nil, raw, fmt.Errorf("table %s, column %s: %w", t.Name, c.Name, errEncoding)
		}
	}
	return row, raw, nil
}
