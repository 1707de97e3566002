package cohort

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store/journal"
)

// sliceQuestion is a question to another node, as JSON. The node that asks has
// checked that its caller may ask about the organisation, and writes the audit
// log.
type sliceQuestion struct {
	Org     access.OrgNo    `json:"org"`
	Measure string          `json:"measure"`
	Params  json.RawMessage `json:"params"`
	Slices  []int           `json:"slices"`
	Count   int             `json:"count"` // of all slices of the organisation
	// Pos is a position of the journal that the answer must include.
	Pos journal.Pos `json:"pos"`
}

// there is here on another node.
func (a *asking[T]) there(ctx context.Context, n *node, org access.OrgNo, wanted []int) (whole T, counted []int, err error) {
	params, err := a.params.Pack()
	if err != nil {
		return whole, nil, err
	}
	question, err := json.Marshal(sliceQuestion{org, a.measure, params, wanted, a.count, a.pos})
	if err != nil {
		return whole, nil, err
	}
	answer, err := a.cs.sharing.ask(ctx, n, question)
	if err != nil {
		return whole, nil, err
	}
	counted, encoded, err := readAnswer(answer, wanted)
	if err != nil || len(counted) == 0 {
		return whole, nil, err
	}
	whole = a.newTally(a.params)
	return whole, counted, whole.Decode(encoded)
}

// Answer answers a question of another node about the slices that this node
// holds. It is for nodes of the same database and with the same program only.
func (cs *Cohorts) Answer(ctx context.Context, question []byte) ([]byte, error) {
	var q sliceQuestion
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, err
	}
	p, err := analytics.UnpackParams(q.Params)
	if err != nil {
		return nil, err
	}
	if len(q.Slices) == 0 || !slices.IsSorted(q.Slices) || q.Slices[0] < 0 || q.Slices[len(q.Slices)-1] >= q.Count {
		return nil, errors.New("a question about no slices")
	}
	switch q.Measure {
	case measureOutcomes:
		return answerSlices(ctx, cs, &q, p, analytics.NewOutcomesTally)
	case measurePopulation:
		return answerSlices(ctx, cs, &q, p, analytics.NewPopulationTally)
	}
	return nil, fmt.Errorf("no measure %q", q.Measure)
}

func answerSlices[T tally[T]](ctx context.Context, cs *Cohorts, q *sliceQuestion, p *analytics.Params, newTally func(*analytics.Params) T) ([]byte, error) {
	a := asking[T]{cs, q.Measure, p, newTally, q.Count, q.Pos}
	whole, counted, err := a.here(ctx, cs.sharing.org(q.Org), q.Slices)
	if err != nil {
		return nil, err
	}
	answer := binary.AppendUvarint(nil, uint64(len(counted)))
	for _, slice := range counted {
		answer = binary.AppendUvarint(answer, uint64(slice))
	}
	if len(counted) > 0 {
		answer = append(answer, whole.Encode()...)
	}
	return answer, nil
}

var errAnswer = errors.New("an answer that does not belong to the question")

// readAnswer returns the slices that were counted, and their encoded tally.
func readAnswer(answer []byte, wanted []int) (counted []int, tally []byte, err error) {
	next := func() uint64 {
		n, size := binary.Uvarint(answer)
		if size <= 0 {
			err = errAnswer
			return 0
		}
		answer = answer[size:]
		return n
	}
	for left := next(); left > 0 && err == nil; left-- {
		slice := int(next())
		if !slices.Contains(wanted, slice) || slices.Contains(counted, slice) {
			return nil, nil, errAnswer
		}
		counted = append(counted, slice)
	}
	return counted, answer, err
}
