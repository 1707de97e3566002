package analytics

import (
	"math"
	"math/big"
	"math/bits"
)

// fraction is the fixed point in which numbers are summed: multiples of 2^-30.
// Integer sums are independent of the order, so that any number of workers
// gives exactly the same mean. The error is at most 5e-10 for a score and
// twice that for a change, and zero for whole numbers.
const fraction = 1 << 30

func fixed(f float64) int64 {
	if f < 0 {
		return int64(f*fraction - 0.5)
	}
	return int64(f*fraction + 0.5)
}

// wide is a 128-bit integer.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w *wide) subtract(o wide) {
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, o.lo, 0)
	w.hi, _ = bits.Sub64(w.hi, o.hi, borrow)
}

// product returns the product of two signed numbers.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi - uint64(a>>63&b) - uint64(b>>63&a), lo}
}

func wideOf(n int64) wide { return wide{uint64(n >> 63), uint64(n)} }

// float is the nearest number of 64 bits, or one beside it.
func (w wide) float() float64 {
	if int64(w.hi) < 0 {
		lo, borrow := bits.Sub64(0, w.lo, 0)
		hi, _ := bits.Sub64(0, w.hi, borrow)
		return -(float64(hi)*(1<<64) + float64(lo))
	}
	return float64(w.hi)*(1<<64) + float64(w.lo)
}

func (w wide) big() *big.Int {
	n := big.NewInt(int64(w.hi))
	n.Lsh(n, 64)
	return n.Add(n, new(big.Int).SetUint64(w.lo))
}

// sum holds the sums for a mean and a standard deviation.
type sum struct {
	n              int
	total, squares wide
}

func (s *sum) add(f float64) { s.addFixed(fixed(f)) }

func (s *sum) addFixed(q int64) {
	s.n++
	s.total.add(wideOf(q))
	s.squares.add(product(q, q))
}

func (s *sum) merge(o *sum) {
	s.n += o.n
	s.total.add(o.total)
	s.squares.add(o.squares)
}

// mean returns the mean, n > 0.
func (s *sum) mean() float64 { return s.total.mean(s.n) }

// mean returns the mean of n > 0 numbers in fixed point with the sum w.
func (w wide) mean(n int) float64 {
	return w.float() / (float64(n) * fraction)
}

// sd returns the sample standard deviation, n > 1.
func (s *sum) sd() float64 {
	n, total := big.NewInt(int64(s.n)), s.total.big()
	above := new(big.Int).Mul(n, s.squares.big())
	squares, _ := above.Sub(above, total.Mul(total, total)).Float64()
	return math.Sqrt(squares/(float64(s.n)*float64(s.n-1))) / fraction
}

// paired holds the sums of the same patients before and after. The sums of the
// change follow from those of both and of their products.
type paired struct {
	n                int
	befores, afters  int64 // enough for 2^29 patients with a score of 10
	squared, squares wide  // before, after
	products         wide
}

func (p *paired) add(before, after float64) { p.addFixed(fixed(before), fixed(after)) }

func (p *paired) addFixed(before, after int64) {
	p.n++
	p.befores += before
	p.afters += after
	p.squared.add(product(before, before))
	p.squares.add(product(after, after))
	p.products.add(product(before, after))
}

func (p *paired) merge(o *paired) {
	p.n += o.n
	p.befores += o.befores
	p.afters += o.afters
	p.squared.add(o.squared)
	p.squares.add(o.squares)
	p.products.add(o.products)
}

func (p *paired) before() *sum { return &sum{p.n, wideOf(p.befores), p.squared} }
func (p *paired) after() *sum  { return &sum{p.n, wideOf(p.afters), p.squares} }

// change returns the sums of after minus before.
func (p *paired) change() *sum {
	squares := p.squared
	squares.add(p.squares)
	squares.subtract(p.products)
	squares.subtract(p.products)
	return &sum{p.n, wideOf(p.afters - p.befores), squares}
}

// effects returns the standardised response mean, and the effect size by the
// standard deviation at baseline. Both are nil if there are too few patients
// or there is no variation.
func (p *paired) effects() (srm, size *float64) {
	if p.n < minForEffectSize {
		return nil, nil
	}
	ratio := func(of *sum) *float64 {
		const none = 1e-6
		if sd := of.sd(); sd > none {
			return rounded(p.change().mean()/sd, 4)
		}
		return nil
	}
	return ratio(p.change()), ratio(p.before())
}
