package reports

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packing compresses chunks. They are independent of each other, so that a
// range of a file can be read from the chunk in which it begins.
var packing = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are valid
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*ChunkSize))
	if err != nil {
		panic(err)
	}
	return e, d
})

func packed(chunk []byte) []byte {
	e, _ := packing()
	return e.EncodeAll(chunk, nil)
}

func unpacked(chunk []byte) ([]byte, error) {
	_, d := packing()
	return d.DecodeAll(chunk, make([]byte, 0, ChunkSize))
}
