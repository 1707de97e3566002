package pain

import (
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// MaxReason is the maximum length of the reason of an erasure, in characters.
const MaxReason = 500

// ReadErasure reads the body of an erasure: its reason, which stays.
func ReadErasure(body *strictjson.Object) (reason string, err error) {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if text, ok := r.Required("reason"); ok {
		reason = strings.TrimSpace(text)
		if problem := ReasonProblem(reason); problem != "" {
			r.Fault("reason", problem)
		}
	}
	r.Done()
	return reason, fields.Err()
}

// ReasonProblem returns what is wrong with the reason of an erasure, or "".
func ReasonProblem(reason string) string {
	if reason == "" {
		return "must not be blank."
	}
	return LineProblem(reason, MaxReason)
}
