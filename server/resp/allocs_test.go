//go:build !race

package resp

import (
	"bytes"
	"testing"
)

// TestSessionAllocatesNothing: parsing, deciding over memory and answering take no memory.
func TestSessionAllocatesNothing(t *testing.T) {
	for name, request := range map[string]string{
		"CL.THROTTLE":  "*5\r\n$11\r\nCL.THROTTLE\r\n$7\r\nuser123\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n",
		"a pipeline":   "cl.throttle k 1000000 1000000 1\r\nCL.THROTTLE k 15 30 60 2\r\nPING\r\n",
		"SLUICE.CHECK": "*3\r\n$12\r\nSLUICE.CHECK\r\n$5\r\nlogin\r\n$12\r\nip=192.0.2.1\r\n",
		"attributes":   "SLUICE.CHECK tenant plan=gold tenant=7 header:x=y COST 1\r\n",
	} {
		var o observed
		w := &wire{in: bytes.NewReader(nil)}
		s := newSession(newDoor(t, func(options *Options) { options.Observer = &o }), w)
		s.base = make([]byte, bufferSize)
		s.buffer = s.base
		s.recheck()
		got := testing.AllocsPerRun(1000, func() {
			w.out.Reset()
			s.to = copy(s.buffer, request)
			s.setDeadline(s.pipeline())
		})
		if got != 0 {
			t.Errorf("%s: %v pieces of memory", name, got)
		}
	}
}
