package e2e

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The operations on patients and their responses form a history that is
// checked for linearizability: is there an order of all operations, each at
// one moment between call and response, in which the patients would have given
// these responses one after the other?

type action string

const (
	doCreate action = "create" // POST with the patient's Idempotency-Key
	doRead   action = "read"   // GET
	doPatch  action = "patch"  // PATCH, with If-Match when version is set
	doAdd    action = "add"    // POST of a record with the record's Idempotency-Key
	doStrike action = "strike" // POST of "entered in error": a record's DELETE
	doList   action = "list"   // GET of the records
)

// operation is one as it was sent.
type operation struct {
	patient int // which one; an identifier is in an answer only
	action  action
	phone   string // of create and patch
	version int64  // of If-Match
	record  string // of add and strike: a name that only this record has
	key     string // of strike
}

// reply is its answer. Whether an operation without one took place is not known.
type reply struct {
	lost    bool
	id      string // of the patient
	version int64
	phone   string
	refused bool   // 412 of a patch, 409 of a strike
	records string // those that a list has, in order
}

// course is the state of a patient after some operations. It is comparable, so
// that the checker recognises states.
type course struct {
	made    bool
	id      string // empty while no answer has named it
	version int64
	phone   string
	records string // of each its name, "=", and the key that struck it, a line each
}

var patients = porcupine.Model{
	Init: func() any { return course{} },
	Step: func(state, input, output any) (bool, any) {
		return state.(course).step(input.(operation), output.(reply))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// step says whether an answer is the right one here, and what the patient is
// afterwards.
func (c course) step(in operation, out reply) (bool, course) {
	switch in.action {
	case doCreate:
		if !c.made {
			c = course{made: true, version: 1, phone: in.phone}
		}
		if out.lost {
			return true, c
		}
		if c.id == "" {
			c.id = out.id
		}
		return out.id == c.id && out.version == 1 && out.phone == in.phone, c
	case doRead:
		return c.made && out.version == c.version && out.phone == c.phone, c
	case doPatch:
		if in.version != 0 && in.version != c.version {
			return out.lost || out.refused && out.version == c.version, c
		}
		c.version, c.phone = c.version+1, in.phone
		return out.lost || !out.refused && out.version == c.version && out.phone == c.phone, c
	case doAdd:
		if _, there := c.striker(in.record); !there {
			lines := append(strings.Split(c.records, "\n"), in.record+"=")
			slices.Sort(lines)
			c.records = strings.Join(lines, "\n")
		}
		return true, c
	case doStrike:
		by, there := c.striker(in.record)
		if !there {
			return out.lost, c
		}
		if by == "" {
			c.records, by = strings.Replace(c.records, "\n"+in.record+"=", "\n"+in.record+"="+in.key, 1), in.key
		}
		return out.lost || out.refused == (by != in.key), c
	case doList:
		return out.records == c.active(), c
	}
	return false, c
}

// striker returns the key that struck a record, and whether the record exists.
func (c course) striker(record string) (key string, there bool) {
	_, rest, there := strings.Cut(c.records, "\n"+record+"=")
	key, _, _ = strings.Cut(rest, "\n")
	return key, there
}

// active lists the records that were not struck, sorted by their names: in the
// order of the lines "1/14=" comes after "1/141=".
func (c course) active() string {
	var names []string
	for line := range strings.Lines(c.records) {
		if name, struck := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "="); struck {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// history collects operations of many callers.
type history struct {
	begun time.Time
	mu    sync.Mutex
	ops   map[int][]porcupine.Operation // by patient
	count int
	lost  int
}

func newHistory() *history {
	return &history{begun: time.Now(), ops: map[int][]porcupine.Operation{}}
}

func (h *history) now() int64 { return int64(time.Since(h.begun)) }

// note adds an operation that was called at a time and has now returned, or
// never will: then it may take effect at any time after its call. A read
// without a response says nothing.
func (h *history) note(in operation, call int64, out reply) {
	end := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	if out.lost {
		h.lost++
		if in.action == doRead || in.action == doList {
			return
		}
		end = math.MaxInt64
	}
	h.ops[in.patient] = append(h.ops[in.patient], porcupine.Operation{ClientId: h.count, Input: in, Call: call, Output: out, Return: end})
}

func (h *history) done() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// judge fails the test with the history of a patient that has no such order.
func (h *history) judge(tb testing.TB) {
	tb.Helper()
	for patient, ops := range h.ops {
		if verdict := porcupine.CheckOperationsTimeout(patients, ops, patience); verdict != porcupine.Ok {
			tb.Errorf("the history of patient %d is %s:\n%s", patient, verdict, printed(ops))
		}
	}
}

func printed(ops []porcupine.Operation) string {
	var text strings.Builder
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, op := range ops {
		fmt.Fprintf(&text, "%12d %20d %s\n", op.Call, op.Return, patients.DescribeOperation(op.Input, op.Output))
	}
	return text.String()
}

// TestHistoriesAreJudged: the checker sees what is wrong, and takes an
// operation without an answer for what it is.
func TestHistoriesAreJudged(t *testing.T) {
	made := []any{operation{action: doCreate, phone: "0"}, reply{id: "a", version: 1, phone: "0"}}
	patched := []any{operation{action: doPatch, phone: "1"}, reply{version: 2, phone: "1"}}
	unanswered := []any{operation{action: doPatch, phone: "1"}, reply{lost: true}}
	add := func(record string) []any { return []any{operation{action: doAdd, record: record}, reply{}} }
	added := add("r")
	reads := func(version int64, phone string) []any {
		return []any{operation{action: doRead}, reply{version: version, phone: phone}}
	}
	lists := func(records string) []any { return []any{operation{action: doList}, reply{records: records}} }
	for name, test := range map[string]struct {
		ops  [][]any // one after the other
		want porcupine.CheckResult
	}{
		"a course":                       {[][]any{made, patched, reads(2, "1"), added, lists("r")}, porcupine.Ok},
		"a read of what was":             {[][]any{made, patched, reads(1, "0")}, porcupine.Illegal},
		"a read of what is to come":      {[][]any{made, reads(2, "1"), patched}, porcupine.Illegal},
		"a key that makes two":           {[][]any{made, {operation{action: doCreate, phone: "0"}, reply{id: "b", version: 1, phone: "0"}}}, porcupine.Illegal},
		"a key that is repeated":         {[][]any{made, patched, made}, porcupine.Ok},
		"an update that is lost":         {[][]any{made, {operation{action: doPatch, phone: "1", version: 1}, reply{version: 2, phone: "1"}}, {operation{action: doPatch, phone: "2", version: 1}, reply{version: 2, phone: "2"}}}, porcupine.Illegal},
		"an If-Match that is refused":    {[][]any{made, patched, {operation{action: doPatch, phone: "2", version: 1}, reply{refused: true, version: 2}}}, porcupine.Ok},
		"refused for nothing":            {[][]any{made, {operation{action: doPatch, phone: "2", version: 1}, reply{refused: true, version: 1}}}, porcupine.Illegal},
		"unanswered, and done":           {[][]any{made, unanswered, reads(1, "0"), reads(2, "1")}, porcupine.Ok},
		"unanswered, and not done":       {[][]any{made, unanswered, reads(1, "0")}, porcupine.Ok},
		"unanswered, done and undone":    {[][]any{made, unanswered, reads(2, "1"), reads(1, "0")}, porcupine.Illegal},
		"unanswered, and done twice":     {[][]any{made, unanswered, reads(2, "1"), patched, reads(3, "1"), reads(4, "1")}, porcupine.Illegal},
		"a record that is lost":          {[][]any{made, added, lists("")}, porcupine.Illegal},
		"a record that is there twice":   {[][]any{made, added, added, lists("r r")}, porcupine.Illegal},
		"a name that begins another":     {[][]any{made, add("1/141"), add("1/14"), lists("1/14 1/141")}, porcupine.Ok},
		"a record that is struck":        {[][]any{made, added, {operation{action: doStrike, record: "r", key: "k"}, reply{}}, lists("")}, porcupine.Ok},
		"a struck record that is listed": {[][]any{made, added, {operation{action: doStrike, record: "r", key: "k"}, reply{}}, lists("r")}, porcupine.Illegal},
		"a record that is struck twice":  {[][]any{made, added, {operation{action: doStrike, record: "r", key: "k"}, reply{}}, {operation{action: doStrike, record: "r", key: "l"}, reply{}}}, porcupine.Illegal},
	} {
		h := newHistory()
		for i, op := range test.ops {
			h.note(op[0].(operation), int64(i), op[1].(reply))
			last := &h.ops[0][len(h.ops[0])-1]
			if last.Call = int64(2 * i); last.Return != math.MaxInt64 {
				last.Return = last.Call + 1
			}
		}
		if got := porcupine.CheckOperationsTimeout(patients, h.ops[0], patience); got != test.want {
			t.Errorf("%s is %s, want %s:\n%s", name, got, test.want, printed(h.ops[0]))
		}
	}
}
