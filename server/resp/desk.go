package resp

import (
	"unsafe"

	"github.com/sluice-limiter/sluice/store"
)

// desk is what one request is worked on with. Its memory is used again and again, so that
// a decision allocates nothing.
type desk struct {
	reply
	door *Door
	args [][]byte // the request, with the name of the command
	from string   // the address of the client

	// of CL.THROTTLE
	key     []byte
	checks  [1]store.Check
	buckets [buckets]bucket

	// of SLUICE.CHECK and its like
	ask    asked
	last   *named // rule of lastOf that the request before asked for
	lastOf *rules

	// in a wave
	about uint64
	work  *command
}

// maxKept is how large an answer may have been whose memory is kept.
const maxKept = 4 * flushAt

func newDesk(d *Door) *desk {
	return &desk{door: d, args: make([][]byte, 0, 16), reply: reply{out: make([]byte, 0, 4<<10)}}
}

// clear forgets what came from a client.
func (d *desk) clear() {
	clear(d.args[:cap(d.args)])
	d.args, d.out, d.checks[0] = d.args[:0], d.out[:0], store.Check{}
	d.ask.clear()
	if cap(d.out) > maxKept {
		d.out = nil
	}
}

// textOf returns bytes as text without copying them: it changes with them. Whoever gets it
// copies what is kept.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
