package resp

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkPipeline is the work for one decision without the network: 16 of them come at
// once.
func BenchmarkPipeline(b *testing.B) {
	for name, request := range map[string]string{
		"throttle": "*5\r\n$11\r\nCL.THROTTLE\r\n$7\r\nuser123\r\n$7\r\n1000000\r\n$7\r\n1000000\r\n$1\r\n1\r\n",
		"denied":   "*5\r\n$11\r\nCL.THROTTLE\r\n$7\r\nuser123\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n",
		"check":    "*3\r\n$12\r\nSLUICE.CHECK\r\n$4\r\nfree\r\n$8\r\nuser=one\r\n",
		"refused":  "*3\r\n$12\r\nSLUICE.CHECK\r\n$5\r\nlogin\r\n$12\r\nip=192.0.2.1\r\n",
	} {
		b.Run(name, func(b *testing.B) {
			const batch = 16
			w := &wire{in: bytes.NewReader(nil)}
			s := newSession(newDoor(b, nil), w)
			s.base = make([]byte, bufferSize)
			s.buffer = s.base
			s.recheck()
			all := strings.Repeat(request, batch)
			b.ReportAllocs()
			for range b.N/batch + 1 {
				w.out.Reset()
				s.to = copy(s.buffer, all)
				s.pipeline()
			}
		})
	}
}
