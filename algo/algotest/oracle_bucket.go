package algotest

import "math/big"

// level is what is missing in a smooth bucket at the instant at, in units of
// 1/Period: the greatest excess of admitted cost over the refill, over all
// intervals of the log that end at that instant. That is a bucket that starts
// full and never holds more than its capacity.
func (o *Oracle) level(at int64) *big.Int {
	most, sum, excess, refill := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	count, period := bigInt(o.Def.Count), bigInt(o.Def.Period)
	for i := len(o.Log) - 1; i >= 0; i-- {
		e := o.Log[i]
		sum.Add(sum, excess.Mul(bigInt(e.Cost), period))
		excess.Sub(sum, refill.Mul(bigInt(at-e.At), count))
		if excess.Cmp(most) > 0 {
			most.Set(excess)
		}
	}
	return most
}

// bucketWait is the least time in µs after which the level, with cost on top,
// has come down to capacity.
func (o *Oracle) bucketWait(at, cost, capacity int64) int64 {
	over := o.level(at)
	over.Add(over, bigProduct(cost, o.Def.Period))
	over.Sub(over, bigProduct(capacity, o.Def.Period))
	return max(0, bigCeil(over, o.Def.Count))
}

func (o *Oracle) bucketRemaining(at int64) int64 {
	room := bigProduct(o.Most(), o.Def.Period)
	room.Sub(room, o.level(at))
	return max(0, bigClip(room.Div(room, bigInt(o.Def.Period))))
}

// Full is the exact time in µs until a smooth bucket is full.
func (o *Oracle) Full(at int64) *big.Rat {
	return new(big.Rat).SetFrac(o.level(at), bigInt(o.Def.Count))
}

// Excess is the greatest amount, over all intervals of the log, by which the
// admitted cost was above capacity + rate · length. It is never above 0 in the
// log of a bucket that nobody waited for. slack µs are added to every length.
func (o *Oracle) Excess(capacity, slack int64) *big.Rat {
	worst := bigProduct(-capacity, o.Def.Period)
	for i := range o.Log {
		part := Oracle{Def: o.Def, Log: o.Log[:i+1]}
		over := part.level(o.Log[i].At + slack)
		if over.Sub(over, bigProduct(capacity, o.Def.Period)); over.Cmp(worst) > 0 {
			worst = over
		}
	}
	return new(big.Rat).SetFrac(worst, bigInt(o.Def.Period))
}

// missing returns the tokens that a bucket with interval refill lacks, and the
// instant of its last step: steps count from the request that found it full.
func (o *Oracle) missing(at int64) (lack *big.Int, step int64) {
	spent, origin := new(big.Int), int64(0)
	lackAt := func(t int64) *big.Int {
		steps := floorDiv(t-origin, o.Def.Period)
		return new(big.Int).Sub(spent, bigProduct(steps, o.Def.Count))
	}
	for _, e := range o.Log {
		if lackAt(e.At).Sign() <= 0 { // full, and the first to take opens a new count
			spent, origin = new(big.Int), e.At
		}
		if spent.Sign() > 0 || e.Cost > 0 {
			spent.Add(spent, bigInt(e.Cost))
		}
	}
	lack = lackAt(at)
	if spent.Sign() <= 0 || lack.Sign() <= 0 {
		return new(big.Int), at
	}
	return lack, at - (at-origin)%o.Def.Period
}

func (o *Oracle) intervalWait(at, cost int64) int64 {
	lack, step := o.missing(at)
	over := lack.Add(lack, bigInt(cost-o.Def.Burst))
	if over.Sign() <= 0 {
		return 0
	}
	steps := bigCeil(over, o.Def.Count)
	return bigClip(new(big.Int).Add(bigProduct(steps, o.Def.Period), bigInt(step-at)))
}

func (o *Oracle) intervalReset(at int64) int64 {
	lack, step := o.missing(at)
	if lack.Sign() == 0 {
		return 0
	}
	steps := bigCeil(lack, o.Def.Count)
	return bigClip(new(big.Int).Add(bigProduct(steps, o.Def.Period), bigInt(step-at)))
}
