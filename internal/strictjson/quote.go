package strictjson

import "github.com/go-json-experiment/json/jsontext"

// AppendString appends text as a JSON string, escaping only what JSON
// requires. Invalid UTF-8 becomes U+FFFD, so the result is always valid.
func AppendString[Text ~string | ~[]byte](b []byte, text Text) []byte {
	b, _ = jsontext.AppendQuote(b, text) // only reports the use of U+FFFD
	return b
}
