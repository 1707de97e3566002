package analytics

import (
	"math"
	"math/big"
	"math/bits"
)

// fraction is the fixed point that numbers are summed in: whole numbers of
// 2^-30. Sums of whole numbers are the same in whatever order, so that any
// number of workers gives the same mean to the last bit. A score is off by
// 5e-10 at most, a change by twice that, and neither when it is whole.
const fraction = 1 << 30

func fixed(f float64) int64 {
	if f < 0 {
		return int64(f*fraction - 0.5)
	}
	return int64(f*fraction + 0.5)
}

// wide is a whole number of 128 bits.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w wide) big() *big.Int {
	n := big.NewInt(int64(w.hi))
	n.Lsh(n, 64)
	return n.Add(n, new(big.Int).SetUint64(w.lo))
}

// sum is what a mean and a standard deviation are made of.
type sum struct {
	n              int
	total, squares wide
}

func (s *sum) add(f float64) { s.addFixed(fixed(f)) }

func (s *sum) addFixed(q int64) {
	var carry uint64
	s.n++
	s.total.lo, carry = bits.Add64(s.total.lo, uint64(q), 0)
	s.total.hi, _ = bits.Add64(s.total.hi, uint64(q>>63), carry)
	size := uint64(max(q, -q))
	hi, lo := bits.Mul64(size, size)
	s.squares.lo, carry = bits.Add64(s.squares.lo, lo, 0)
	s.squares.hi, _ = bits.Add64(s.squares.hi, hi, carry)
}

func (s *sum) merge(o *sum) {
	s.n += o.n
	s.total.add(o.total)
	s.squares.add(o.squares)
}

// mean is the mean of what was added, n > 0.
func (s *sum) mean() float64 {
	f, _ := new(big.Rat).SetFrac(s.total.big(), big.NewInt(int64(s.n)*fraction)).Float64()
	return f
}

// sd is the standard deviation of the sample, n > 1.
func (s *sum) sd() float64 {
	n, total := big.NewInt(int64(s.n)), s.total.big()
	above := new(big.Int).Mul(n, s.squares.big())
	above.Sub(above, total.Mul(total, total))
	below := new(big.Int).Mul(n, big.NewInt(int64(s.n-1)))
	variance, _ := new(big.Rat).SetFrac(above, below).Float64()
	return math.Sqrt(variance) / fraction
}

// paired is pain of the same patients before and after.
type paired struct{ before, after, change sum }

func (p *paired) add(before, after float64) { p.addFixed(fixed(before), fixed(after)) }

func (p *paired) addFixed(before, after int64) {
	p.before.addFixed(before)
	p.after.addFixed(after)
	p.change.addFixed(after - before)
}

func (p *paired) merge(o *paired) {
	p.before.merge(&o.before)
	p.after.merge(&o.after)
	p.change.merge(&o.change)
}

// effects are the standardized response mean and the effect size by the spread
// at baseline; nil when there are too few patients, or no spread.
func (p *paired) effects() (srm, size *float64) {
	if p.change.n < minForEffectSize {
		return nil, nil
	}
	ratio := func(of *sum) *float64 {
		const none = 1e-6
		if sd := of.sd(); sd > none {
			return rounded(p.change.mean()/sd, 4)
		}
		return nil
	}
	return ratio(&p.change), ratio(&p.before)
}
