package analytics

import "time"

// OutcomesTally counts outcomes, patient after patient.
type OutcomesTally struct{ params *Params }

// NewOutcomesTally begins a tally. It is for one goroutine at a time.
func NewOutcomesTally(p *Params) *OutcomesTally { return &OutcomesTally{p} }

// Add counts a patient who passes the filter.
func (t *OutcomesTally) Add(p *Patient) {}

// Merge adds what another tally of the same parameters counted.
func (t *OutcomesTally) Merge(other *OutcomesTally) {}

// Result is the answer.
func (t *OutcomesTally) Result(now time.Time) *Outcomes { return &Outcomes{} }

// PopulationTally counts how patients are, one after the other.
type PopulationTally struct{ params *Params }

// NewPopulationTally begins a tally. It is for one goroutine at a time.
func NewPopulationTally(p *Params) *PopulationTally { return &PopulationTally{p} }

// Add counts a patient who passes the filter.
func (t *PopulationTally) Add(p *Patient) {}

// Merge adds what another tally of the same parameters counted.
func (t *PopulationTally) Merge(other *PopulationTally) {}

// Result is the answer.
func (t *PopulationTally) Result(now time.Time) *Population { return &Population{} }
