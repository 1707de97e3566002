package analytics

import "math"

// observation is a group of patients with the same covariates: their number,
// the number with a known yes or no, the number of yes, and the sum of their
// outcomes.
type observation struct {
	x     []float64
	n     float64
	total float64 // of the outcome
	known float64
	yes   float64
}

// fit is a fitted model. Reason is why there is none.
type fit struct {
	beta   []float64
	se     []float64
	sigma  float64 // residual standard deviation, for least squares
	df     int
	reason string
}

// missing returns why the model says nothing about n patients, or nil if it
// does.
func (f *fit) missing(n int) *string {
	switch {
	case n == 0:
		return new(reasonNobody)
	case f.reason != "":
		return &f.reason
	}
	return nil
}

// dot returns the linear predictor for covariates.
func (f *fit) dot(x []float64) (sum float64) {
	for i, b := range f.beta {
		sum += b * x[i]
	}
	return sum
}

// perCoefficient is the number of patients required per coefficient; for a
// logistic model, the number of each outcome.
const perCoefficient = 10

// leastSquares fits a line by ordinary least squares. squares is the sum of
// the squared outcomes of all patients.
func leastSquares(list []observation, terms int, squares float64) fit {
	n := 0.0
	a, b := square(terms), make([]float64, terms)
	for i := range list {
		o := &list[i]
		n += o.n
		for j, xj := range o.x {
			b[j] += xj * o.total
			for k, xk := range o.x[:j+1] {
				a[j][k] += o.n * xj * xk
			}
		}
	}
	if n < float64(perCoefficient*terms) {
		return fit{reason: reasonTooFew}
	}
	inverse, ok := invert(a)
	if !ok {
		return fit{reason: reasonSingular}
	}
	f := fit{beta: times(inverse, b), df: int(n) - terms}
	rest := squares
	for j := range b {
		rest -= f.beta[j] * b[j]
	}
	f.sigma = math.Sqrt(max(0, rest) / float64(f.df))
	for j := range b {
		f.se = append(f.se, f.sigma*math.Sqrt(inverse[j][j]))
	}
	return f
}

// logistic fits log odds by maximum likelihood with Newton's method. There is
// no maximum if a covariate separates the outcomes.
func logistic(list []observation, terms int) fit {
	yes, no := 0.0, 0.0
	for i := range list {
		yes += list[i].yes
		no += list[i].known - list[i].yes
	}
	if min(yes, no) < float64(perCoefficient*terms) {
		return fit{reason: reasonTooFew}
	}
	const steps, enough, extreme = 40, 1e-10, 15
	f := fit{beta: make([]float64, terms), df: int(yes+no) - terms}
	for range steps {
		a, b := square(terms), make([]float64, terms)
		for i := range list {
			o := &list[i]
			if o.known == 0 {
				continue
			}
			eta := f.dot(o.x)
			if math.Abs(eta) > extreme {
				return fit{reason: reasonSeparation}
			}
			p := expit(eta)
			weight, off := o.known*p*(1-p), o.yes-o.known*p
			for j, xj := range o.x {
				b[j] += xj * off
				for k, xk := range o.x[:j+1] {
					a[j][k] += weight * xj * xk
				}
			}
		}
		inverse, ok := invert(a)
		if !ok {
			return fit{reason: reasonSingular}
		}
		largest := 0.0
		for j, step := range times(inverse, b) {
			f.beta[j] += step
			largest = max(largest, math.Abs(step))
		}
		if largest < enough {
			for j := range inverse {
				f.se = append(f.se, math.Sqrt(inverse[j][j]))
			}
			return f
		}
	}
	return fit{reason: reasonSeparation}
}

func expit(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func square(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}

func times(a [][]float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range a {
		for j, v := range a[i] {
			y[i] += v * x[j]
		}
	}
	return y
}

// invert inverts a symmetric positive definite matrix, given by its lower
// half, by Cholesky decomposition. It is not ok if the matrix is numerically
// singular.
func invert(a [][]float64) (inverse [][]float64, ok bool) {
	n := len(a)
	l := square(n)
	for j := range n {
		d := a[j][j]
		for k := range j {
			d -= l[j][k] * l[j][k]
		}
		if !(d > 1e-9*a[j][j]) {
			return nil, false
		}
		l[j][j] = math.Sqrt(d)
		for i := j + 1; i < n; i++ {
			s := a[i][j]
			for k := range j {
				s -= l[i][k] * l[j][k]
			}
			l[i][j] = s / l[j][j]
		}
	}
	inverse = square(n)
	for c := range n { // for each unit vector: forward, then back
		y := make([]float64, n)
		for i := c; i < n; i++ {
			s := 0.0
			if i == c {
				s = 1
			}
			for k := c; k < i; k++ {
				s -= l[i][k] * y[k]
			}
			y[i] = s / l[i][i]
		}
		for i := n - 1; i >= 0; i-- {
			s := y[i]
			for k := i + 1; k < n; k++ {
				s -= l[k][i] * inverse[k][c]
			}
			inverse[i][c] = s / l[i][i]
		}
	}
	return inverse, true
}
