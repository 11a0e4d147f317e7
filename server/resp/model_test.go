package resp

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/store/memstore"
)

// cell is redis-cell as its documentation has it, in exact fractions: a key is known by
// the instant at which its bucket is full again.
type cell struct {
	limit int64
	each  *big.Rat // µs until one more
	full  *big.Rat // when it is full, µs
}

func newCell(burst, count, period int64) *cell {
	return &cell{burst + 1, big.NewRat(period*1e6, count), new(big.Rat)}
}

// throttle is one command at the instant now. It returns the five numbers.
func (c *cell) throttle(now, quantity int64) [5]int64 {
	at := new(big.Rat).SetInt64(now)
	if c.full.Cmp(at) < 0 {
		c.full.Set(at)
	}
	size := new(big.Rat).Mul(c.each, big.NewRat(c.limit, 1))
	next := new(big.Rat).Mul(c.each, big.NewRat(quantity, 1))
	next.Add(next, c.full)
	over := new(big.Rat).Sub(next, new(big.Rat).Add(at, size)) // how much later it would be full than it can be
	answer := [5]int64{0, c.limit, 0, -1, 0}
	switch {
	case over.Sign() <= 0:
		if c.full = next; next.Cmp(at) < 0 {
			c.full = at // no more than full
		}
	default:
		answer[0] = 1
		if quantity <= c.limit {
			answer[3] = roundUp(over)
		}
	}
	left := new(big.Rat).Sub(new(big.Rat).Add(at, size), c.full)
	left.Quo(left, c.each)
	answer[2] = new(big.Int).Quo(left.Num(), left.Denom()).Int64()
	answer[4] = roundUp(new(big.Rat).Sub(c.full, at))
	return answer
}

// roundUp turns µs into seconds, rounded up if a millisecond or more is left over. Parts
// of a µs count as one: that is how finely time is told.
func roundUp(us *big.Rat) int64 {
	whole, rest := new(big.Int).QuoRem(us.Num(), us.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	s, ms := whole.Int64()/1_000_000, whole.Int64()/1000%1000
	if ms > 0 {
		s++
	}
	return s
}

// TestThrottleIsRedisCell compares the command with the model, over random steps.
func TestThrottleIsRedisCell(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	now := time.UnixMicro(1_700_000_000_000_000)
	memory := memstore.New(memstore.WithClock(func() time.Time { return now }))
	d := newDesk(newDoor(t, func(o *Options) { o.Store = memory }))
	for bucket := range 300 {
		burst, count, period := r.Int64N(1<<r.IntN(12)), 1+r.Int64N(1<<r.IntN(14)), 1+r.Int64N(1<<r.IntN(18))
		model := newCell(burst, count, period)
		for step := range 100 {
			now = now.Add(time.Duration(r.Int64N(1<<r.IntN(36))) * time.Microsecond)
			quantity := pick(r, burst)
			args := []string{"CL.THROTTLE", fmt.Sprint("k", bucket), fmt.Sprint(burst), fmt.Sprint(count), fmt.Sprint(period), fmt.Sprint(quantity)}
			if quantity == 1 {
				args = args[:5]
			}
			got, want := d.ask5(t, args...), model.throttle(now.UnixMicro(), quantity)
			if got != want {
				t.Fatalf("bucket %d, step %d: %v answers %v, the model %v", bucket, step, args, got, want)
			}
		}
	}
}

// pick returns a quantity: most often 1, now and then all that there can be and more, or
// nothing, or less than that.
func pick(r *rand.Rand, burst int64) int64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return -1 - r.Int64N(burst+3)
	case 2:
		return burst + 2 + r.Int64N(3)
	case 3, 4:
		return 1 + r.Int64N(burst+1)
	}
	return 1
}

// ask5 carries out a command that is answered with five numbers.
func (d *desk) ask5(t testing.TB, args ...string) (numbers [5]int64) {
	t.Helper()
	d.clear()
	for _, a := range args {
		d.args = append(d.args, []byte(a))
	}
	throttle(context.Background(), d)
	lines := strings.Split(string(d.out), "\r\n")
	if len(lines) != 7 || lines[0] != "*5" {
		t.Fatalf("%v is answered %q", args, d.out)
	}
	for i := range numbers {
		n, err := strconv.ParseInt(lines[i+1][1:], 10, 64)
		if err != nil || lines[i+1][0] != ':' {
			t.Fatalf("%v is answered %q", args, d.out)
		}
		numbers[i] = n
	}
	return numbers
}
