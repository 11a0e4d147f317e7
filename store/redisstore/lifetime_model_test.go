package redisstore_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestLifetimesLikeTheModel sends random decisions of all operations while limits change, the
// clock jumps and some values are those of the version before, and lets every key go
// when its life ends by the clock of the stream. The answers stay the model's, no key
// goes before its states have recovered, and what values tell of their lives is true.
func TestLifetimesLikeTheModel(t *testing.T) {
	c := dial(t, redistest.Start(t))
	shared := everyKind(t)[0] // any limit whose state lies with others
	seed, gone := algotest.Seed(t, 0), 0
	for n := range uint64(algotest.Rounds(150, 5_000)) {
		r := algotest.Rand(seed, n)
		m := newMany(t, c, r, algotest.Pick(r, algotest.Kinds()))
		m.name = fmt.Sprintf("seed %d, round %d", seed, n)
		m.limits, m.keys = m.limits[:1+r.IntN(len(m.limits))], min(m.keys, 5)
		l := &lives{many: m, client: c, keys: map[string]life{}}
		for k := range m.keys {
			l.names = append(l.names, redisstore.StateKey(m.store, &store.Check{Key: fmt.Sprint("key ", k), Spec: shared}))
		}
		l.look(m.Now)
		for range 40 {
			if l.step(); t.Failed() {
				return
			}
			if m.Now > latest {
				break
			}
		}
		gone += l.gone
	}
	if gone == 0 {
		t.Error("no key has ever gone")
	}
}

// lives is a stream with what is known of the lives of its keys.
type lives struct {
	*many
	client *resp.Client
	names  []string // in Redis
	keys   map[string]life
	seen   int64 // ms, by the clock of the server
	gone   int
}

// life is that of a key.
type life struct {
	value string
	from  int64 // it ends between these two, in ms by the clock of the server
	to    int64
	ends  int64 // and here by that of the stream
}

const (
	ofTests = 600_000 // ms that keys live longer by a test's clock
	inexact = 20      // ms by which the time of one command may precede that of another before it
)

// step makes one call, and looks.
func (l *lives) step() {
	l.Step()
	if near := l.keys[algotest.Pick(l.Rand, l.names)]; l.Rand.IntN(4) == 0 {
		l.Now = max(l.Now, 1000*near.ends-l.Rand.Int64N(7_000_000)) // near the end of some key
	}
	l.expire()
	switch l.Rand.IntN(12) {
	case 0:
		l.another()
	case 1:
		l.former()
	}
	for range 1 + l.Rand.IntN(3) {
		l.draw()
	}
	l.flush()
	now := l.Now
	l.look(now)
	if l.Rand.IntN(12) == 0 {
		l.back()
		l.look(now)
	}
}

// another replaces a limit by one of another shape, whose state lies beside the former.
func (l *lives) another() {
	at := algotest.Pick(l.Rand, l.limits)
	l.serial++
	at.def = algotest.RandomSpec(l.Rand, at.def.Kind)
	at.def.Ordinal = int64(100 + l.serial)
	at.spec = mustCompile(l, at.def)
	l.open, l.spent = nil, nil // of the former limit, which nobody resets when the clock goes back
}

// expire lets the keys go whose lives have ended.
func (l *lives) expire() {
	for key, known := range l.keys {
		if known.ends <= l.Now/1000 {
			do(l, l.client, "DEL", key)
			delete(l.keys, key)
			l.gone++
		}
	}
}

// former makes values what the version before would have written.
func (l *lives) former() {
	for key, known := range l.keys {
		value := "\x01" + known.value[4:]
		if known.value[0] == 1 {
			continue
		} else if len(known.value) == 28 {
			value = "\x01\x03\x03\x00" + known.value[4:]
		}
		ends := lastOf(value)/1000 + 2
		if ms := ends - l.Now/1000; ms > 0 {
			do(l, l.client, "SET", key, value, "PX", strconv.FormatInt(ms+ofTests, 10))
			l.keys[key] = life{value: value, ends: ends}
		}
	}
}

// lastOf is the latest instant at which a state in a value counts.
func lastOf(value string) (last int64) {
	number := func(at int) int64 {
		return int64(math.Abs(math.Float64frombits(binary.LittleEndian.Uint64([]byte(value[at:])))))
	}
	if len(value) == 28 {
		return number(12)
	}
	at := 4
	if value[0] == 1 {
		at = 1
	}
	for at < len(value) {
		last = max(last, number(at+12))
		at += 12 + 8*int(binary.LittleEndian.Uint16([]byte(value[at+1:])))
	}
	return last
}

// lookScript returns the time in ms, and of every key its value and between which two
// instants it expires.
const lookScript = `local function millis()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local reply = {millis()}
for _, key in ipairs(KEYS) do
  local from, value, left = millis(), redis.call('GET', key), redis.call('PTTL', key)
  reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = value, from + left, millis() + left
  if left < 0 then -- never
    reply[#reply - 1], reply[#reply] = 0, 0
  end
end
return reply`

// look compares all keys with what is known of them, after a call at now.
func (l *lives) look(now int64) {
	reply := do(l, l.client, append([]string{"EVAL", lookScript, strconv.Itoa(len(l.names))}, l.names...)...).([]any)
	before, after := l.seen, reply[0].(int64)
	l.seen = after
	for k, name := range l.names {
		value, there := reply[1+3*k].(string)
		switch {
		case !there:
			delete(l.keys, name)
		case value[0] == 2:
			found := life{value, reply[2+3*k].(int64), reply[3+3*k].(int64), lastOf(value)/1000 + given(value)}
			l.compareLife(found, l.keys[name], before+found.ends-now/1000, after+found.ends-now/1000)
			l.keys[name] = found
		}
		l.counts(fmt.Sprint("key ", k), l.keys[name].ends)
	}
}

// compareLife checks that a life was either set, to end between two instants, or left
// as it was, and that the value tells the truth about it.
func (l *lives) compareLife(found, known life, from, to int64) {
	set := found.to >= from+ofTests-inexact && found.from <= to+ofTests+inexact
	kept := found.ends == known.ends && found.to >= known.from && found.from <= known.to
	most := 5000 + 2*max(0, (lastOf(found.value)-l.Now)/1000)
	if more := given(found.value); !set && !kept || more < 1000 || more > most && found.value != known.value {
		l.Errorf("%s: %q ends from %d to %d, as it tells at %d", l.name, found.value, found.from, found.to, found.ends)
		l.Errorf("it was %q from %d to %d, %d; if set, it ends from %d to %d", known.value, known.from, known.to, known.ends, from+ofTests, to+ofTests)
	}
}

// given is how many ms longer than its states the key lives, as a value tells.
func given(value string) int64 {
	return int64(value[1]) | int64(value[2])<<8 | int64(value[3])<<16
}

// counts checks that no state counts for longer than its key lives.
func (l *lives) counts(key string, ends int64) {
	for _, limit := range l.limits {
		if limit.def.Kind == algo.SlidingLog {
			continue
		}
		v := take(l, l.model, store.Spend, store.Check{Key: key, Spec: limit.spec})[0].Verdict
		if reset := limit.spec.ResetAfter(v); reset > 0 && l.Now+reset > 1000*(ends+1) {
			l.Errorf("%s: %s of %q counts for %d µs, its key lives %d ms", l.name, algotest.Describe(limit.def), key, reset, ends-l.Now/1000)
		}
	}
}
