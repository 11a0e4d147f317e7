package redisstore

import (
	"encoding/binary"
	"math"

	"github.com/sluice-limiter/sluice/algo"
)

// key returns the number of a name in KEYS, from 1.
func (e *encoder) key(name string) int {
	const few = 8
	if e.index == nil {
		for i, k := range e.keys {
			if k == name {
				return i + 1
			}
		}
		if len(e.keys) == few {
			e.index = make(map[string]int, cap(e.keys))
			for i, k := range e.keys {
				e.index[k] = i + 1
			}
		}
	} else if i, ok := e.index[name]; ok {
		return i
	}
	e.keys = append(e.keys, name)
	if e.index != nil {
		e.index[name] = len(e.keys)
	}
	return len(e.keys)
}

// spec returns the place of a spec in the argument, from 1.
func (e *encoder) spec(p *algo.Spec) int {
	for i := len(e.specs) - 1; i >= 0; i-- {
		if e.specs[i] == p {
			return e.at[i]
		}
	}
	return e.addSpec(p)
}

// addSpec packs a spec: the head of its record, then its numbers. Where the record does
// not need it, the head tells how many numbers there are.
func (e *encoder) addSpec(p *algo.Spec) int {
	at := len(e.text) + 1
	e.specs, e.at = append(e.specs, p), append(e.at, at)
	var room [8]float64
	numbers := p.Numbers(room[:0])
	words := len(numbers)
	if p.Kind == algo.TokenBucket {
		words = 3
	}
	e.text = append(e.text, byte(p.Kind))
	e.text = binary.LittleEndian.AppendUint16(e.text, uint16(words))
	e.text = binary.LittleEndian.AppendUint64(e.text, p.Shape())
	for _, n := range numbers {
		e.text = binary.LittleEndian.AppendUint64(e.text, math.Float64bits(n))
	}
	return at
}

func (e *encoder) put16(n int) { e.body = binary.LittleEndian.AppendUint16(e.body, uint16(n)) }

func (e *encoder) put32(n int) { e.body = binary.LittleEndian.AppendUint32(e.body, uint32(n)) }

func (e *encoder) put(n int64) { e.float(float64(n)) }

func (e *encoder) float(f float64) {
	e.body = binary.LittleEndian.AppendUint64(e.body, math.Float64bits(f))
}

func (e *encoder) string(s string) {
	e.put16(len(s))
	e.body = append(e.body, s...)
}
