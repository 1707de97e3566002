package strictjson

import "github.com/go-json-experiment/json/jsontext"

// AppendString appends text as a JSON string, with nothing escaped that JSON
// does not require. Bytes that are not UTF-8 become U+FFFD, so the result is
// always valid.
func AppendString[Text ~string | ~[]byte](b []byte, text Text) []byte {
	b, _ = jsontext.AppendQuote(b, text) // the error only tells of U+FFFD
	return b
}
