package algotest

import (
	"math/big"

	"github.com/sluice-limiter/sluice/algo"
)

// warmPrec is the precision of the warm-up integral in bits.
const warmPrec = 300

func bigReal(v float64) *big.Float { return new(big.Float).SetPrec(warmPrec).SetFloat64(v) }

func bigWhole(v int64) *big.Float { return new(big.Float).SetPrec(warmPrec).SetInt64(v) }

func bigOp(f func(z, a, b *big.Float) *big.Float, a, b *big.Float) *big.Float {
	return f(new(big.Float).SetPrec(warmPrec), a, b)
}

func bigAdd(a, b *big.Float) *big.Float { return bigOp((*big.Float).Add, a, b) }
func bigSub(a, b *big.Float) *big.Float { return bigOp((*big.Float).Sub, a, b) }
func bigMul(a, b *big.Float) *big.Float { return bigOp((*big.Float).Mul, a, b) }
func bigQuo(a, b *big.Float) *big.Float { return bigOp((*big.Float).Quo, a, b) }

func bigLeast(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// warmFigures are those of Guava's SmoothWarmingUp, from the definition.
type warmFigures struct{ stable, threshold, max, slope, cool *big.Float }

func warmOf(def *algo.Spec) warmFigures {
	period := bigWhole(def.Warm)
	stable := bigQuo(bigWhole(def.Period), bigWhole(def.Count))
	cold := bigMul(stable, bigReal(def.Cold))
	threshold := bigQuo(period, bigMul(bigWhole(2), stable))
	span := bigQuo(bigMul(bigWhole(2), period), bigAdd(stable, cold))
	most := bigAdd(threshold, span)
	return warmFigures{stable, threshold, most, bigQuo(bigSub(cold, stable), span), bigQuo(most, period)}
}

// integral is the area under the price between 0 and x stored permits.
func (w warmFigures) integral(x *big.Float) *big.Float {
	area := bigMul(x, w.stable)
	if above := bigSub(x, w.threshold); above.Sign() > 0 {
		area = bigAdd(area, bigQuo(bigMul(bigMul(above, above), w.slope), bigWhole(2)))
	}
	return area
}

// next is the exact instant at which the request after the log may go.
func (o *Oracle) next() *big.Float {
	w := warmOf(&o.Def)
	stored := w.max
	var next *big.Float
	for _, e := range o.Log {
		at := bigWhole(e.At)
		if next == nil || at.Cmp(next) >= 0 {
			if next != nil {
				stored = bigLeast(w.max, bigAdd(stored, bigMul(bigSub(at, next), w.cool)))
			}
			next = at
		}
		take := bigLeast(bigWhole(e.Cost), stored)
		rest := bigSub(stored, take)
		next = bigAdd(next, bigSub(w.integral(stored), w.integral(rest)))
		next = bigAdd(next, bigMul(bigSub(bigWhole(e.Cost), take), w.stable))
		stored = rest
	}
	return next
}

// WarmWait is the wait of a request to a warm_up limit in whole µs, rounded up.
// sharp is false when the exact wait is so near a whole number (below 10⁻³ µs)
// that float64 may fall on either side.
func (o *Oracle) WarmWait(at int64) (wait int64, sharp bool) {
	next := o.next()
	if next == nil {
		return 0, true
	}
	exact := bigSub(next, bigWhole(at))
	floor, _ := exact.Int64()
	part, _ := bigSub(exact, bigWhole(floor)).Float64()
	sharp = part > 1e-3 && part < 1-1e-3 || part < -1e-3
	if exact.Sign() <= 0 {
		return 0, sharp
	}
	if part > 0 {
		floor++
	}
	return floor, sharp
}
