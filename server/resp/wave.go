package resp

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// A wave is decisions of one pipeline that are made at the same time, so that they share
// round trips to a remote store. Their answers are sent in the order of the requests.
// Decisions about the same key of CL.THROTTLE, or with the same arguments but for the
// cost, are never in one wave. Others may share a budget by a rule: in which order they
// take from it is not promised, as if they had come over two connections.

// seed is for telling keys apart.
var seed = maphash.MakeSeed()

// join puts the request of d into the wave, after that has been settled if it must be.
func (s *session) join(d *desk, c *command) {
	about := aboutWhom(d.args)
	if len(s.wave) >= s.door.options.Parallel || s.speaksOf(about) {
		s.settle(d)
	}
	w := s.door.desks.Get().(*desk)
	w.args, d.args = d.args, w.args
	w.v3, w.from, w.about, w.work = d.v3, d.from, about, c
	s.wave = append(s.wave, w)
}

// aboutWhom is the same for all decisions about the same: of CL.THROTTLE the key, of the
// others all arguments but the cost.
func aboutWhom(args [][]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	rest := args[1:]
	switch n := len(rest); {
	case len(args[0]) == len("cl.throttle"):
		rest = rest[:min(n, 1)]
	case n >= 2 && bytes.EqualFold(rest[n-2], []byte("COST")):
		rest = rest[:n-2]
	}
	for _, arg := range rest {
		h.Write(arg)
		h.WriteByte(0)
	}
	return h.Sum64()
}

func (s *session) speaksOf(about uint64) bool {
	for _, w := range s.wave {
		if w.about == about {
			return true
		}
	}
	return false
}

// settle makes the decisions of the wave and appends their answers to d.
func (s *session) settle(d *desk) {
	if len(s.wave) == 0 {
		return
	}
	if s.enter() {
		var others sync.WaitGroup
		for _, w := range s.wave[1:] {
			others.Go(func() { s.carryOut(w) })
		}
		s.carryOut(s.wave[0])
		others.Wait()
	} else {
		for _, w := range s.wave {
			w.fail(busy)
		}
	}
	for i, w := range s.wave {
		d.out = append(d.out, w.out...)
		w.clear()
		s.door.desks.Put(w)
		s.wave[i] = nil
	}
	s.wave = s.wave[:0]
}

// carryOut makes one decision. A mistake of ours costs its answer, not the server.
func (s *session) carryOut(w *desk) {
	defer func() {
		if mistake := recover(); mistake != nil {
			w.out = w.out[:0]
			w.fail("ERR the server failed; its log says why")
			s.door.options.Logger.Error("resp: a decision failed", "error", mistake)
		}
	}()
	w.work.decide(s.door.ctx, w)
}
