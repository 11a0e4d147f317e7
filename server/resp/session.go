package resp

import (
	"container/list"
	"crypto/sha256"
	"net"
	"runtime/debug"
	"time"
)

const (
	bufferSize = 8 << 10  // a pipeline of a hundred decisions; a longer request gets a longer one
	strangers  = 1 << 10  // the longest request of who has not shown a token
	flushAt    = 16 << 10 // answers are sent when there are so many bytes of them, and at the end of a pipeline

	// How long it may take to show a token, to send a request that is longer than the
	// buffer, and, at least, to take an answer.
	hurry = 10 * time.Second
)

// session is one connection.
type session struct {
	door *Door
	conn net.Conn
	id   int64
	peer string // the address of the client
	name string
	v3   bool
	over bool // the connection is to be closed

	opened       time.Time // when it came
	until, write time.Time // the deadlines that are set

	// Whether it may ask, by the tokens that held when it was looked at last, and which
	// token it has shown.
	tokens  *tokens
	allowed bool
	shown   bool
	token   [sha256.Size]byte

	// of connections
	stranger *list.Element // nil if it was allowed from the beginning
	dropped  bool

	base     []byte  // of bufferSize
	buffer   []byte  // base, or one of maxRequest while a long request comes in
	from, to int     // what of it was received and not yet worked on
	need     int     // a request is incomplete before there are so many bytes of it
	placed   bool    // it has a place in flight
	wave     []*desk // decisions that are to be made at the same time

	last    *command // what was asked for before, and how it was spelled
	spelled [longestName]byte
}

func newSession(d *Door, conn net.Conn) *session {
	s := &session{door: d, conn: conn, id: d.lastID.Add(1), peer: hostOf(conn.RemoteAddr()), opened: d.options.Now()}
	s.recheck()
	return s
}

// serve answers until the client leaves, is too slow, says QUIT or sends what is no
// request, or until the door is closed.
func (s *session) serve() {
	defer s.recover()
	s.base = make([]byte, bufferSize)
	s.buffer = s.base
	for now := s.opened; !s.over; {
		s.setDeadline(now)
		if s.door.connections.closing.Load() { // the deadline may just have been moved
			return
		}
		n, err := s.conn.Read(s.buffer[s.to:])
		if s.to += n; n > 0 && s.to-s.from >= s.need {
			now = s.pipeline()
		}
		if err != nil {
			return
		}
	}
}

// recover keeps a mistake of ours from ending the whole server.
func (s *session) recover() {
	s.leave()
	if mistake := recover(); mistake != nil {
		s.door.options.Logger.Error("resp: a connection failed", "error", mistake, "stack", string(debug.Stack()))
	}
}

// setDeadline says until when the next request has to be there. It is not moved for every
// request, which would cost as much as a decision.
func (s *session) setDeadline(now time.Time) {
	idle := s.door.options.Idle
	var deadline time.Time
	switch soon := now.Add(min(hurry, idle)); {
	case !s.allowed: // whoever this is takes a place from others
		deadline = s.opened.Add(min(hurry, idle))
	case len(s.buffer) > bufferSize && s.until.After(soon): // takes memory
		deadline = soon
	case len(s.buffer) == bufferSize && s.until.Sub(now) < idle-idle/4:
		deadline = now.Add(idle)
	default:
		return
	}
	if deadline != s.until {
		s.until = deadline
		_ = s.conn.SetReadDeadline(deadline)
	}
}

// pipeline answers all requests that have been received. It returns the time.
func (s *session) pipeline() time.Time {
	start := s.door.options.Now()
	s.recheck()
	d := s.door.desks.Get().(*desk)
	d.v3, d.from = s.v3, s.peer
	decisions := s.answerAll(d, start)
	s.flush(d, start)
	d.clear()
	s.door.desks.Put(d)
	s.makeRoom()
	if decisions == 0 || s.door.options.Observer == nil {
		return start
	}
	took := time.Since(start)
	s.door.options.Observer.Observe(took.Seconds())
	return start.Add(took)
}

// answerAll works on the requests in order. It returns how many asked for decisions.
func (s *session) answerAll(d *desk, now time.Time) (decisions int) {
	for !s.over {
		n, err := s.next(d)
		if err != nil {
			s.settle(d)
			d.fail("ERR Protocol error: " + err.Error())
			s.over = true
		}
		if n == 0 {
			break
		}
		if len(d.args) == 0 {
			continue
		}
		c := s.find(d.args[0])
		if c != nil && c.decide != nil {
			decisions++
		}
		s.answer(d, c)
		if len(d.out) >= flushAt {
			s.flush(d, now)
		}
	}
	s.settle(d)
	return decisions
}

// find returns the command of a name, or nil. Mostly it is the same as before.
func (s *session) find(name []byte) *command {
	if s.last != nil && string(name) == string(s.spelled[:len(s.last.name)]) {
		return s.last
	}
	if s.last = s.door.find(name); s.last != nil {
		copy(s.spelled[:], name)
	}
	return s.last
}

// next takes the next request, if all of it is there.
func (s *session) next(d *desk) (n int, err error) {
	data := s.buffer[s.from:s.to]
	d.args, n, s.need, err = parse(data, d.args[:0])
	switch most := max(n, s.need); {
	case err != nil:
		return 0, err
	case most > maxRequest: // no buffer is so large
		return 0, errTooLong
	case most > strangers && !s.allowed:
		return 0, errStranger
	}
	if n > 0 && data[0] != '*' && isHTTP(d.args) {
		s.over = true
		return 0, nil
	}
	s.from += n
	return n, nil
}

// isHTTP recognizes a browser that was led here, as by a page that posts a form to this
// address: what it sends next would be taken for commands of somebody else.
func isHTTP(args [][]byte) bool {
	if len(args) == 0 {
		return false
	}
	last, name := args[len(args)-1], args[0]
	return len(last) >= 5 && string(last[:5]) == "HTTP/" || len(name) > 0 && name[len(name)-1] == ':'
}

// answer carries out one request.
func (s *session) answer(d *desk, c *command) {
	beside := c != nil && c.decide != nil && !c.alone && s.allowed && c.fits(len(d.args))
	if beside && s.door.options.Parallel > 1 {
		s.join(d, c)
		return
	}
	s.settle(d)
	switch {
	case !s.allowed && (c == nil || !c.open):
		d.fail(needsAuth)
	case c == nil:
		d.unknown()
	case !c.fits(len(d.args)):
		d.wrongNumber(c.name)
	case c.answer != nil:
		c.answer(s, d)
	case !s.enter():
		d.fail(busy)
	default:
		c.decide(s.door.ctx, d)
	}
}

// flush sends the answers. Who is slow to take them keeps no place from others.
func (s *session) flush(d *desk, now time.Time) {
	s.leave()
	if len(d.out) == 0 {
		return
	}
	if s.write.Sub(now) < hurry {
		s.write = now.Add(2 * hurry)
		_ = s.conn.SetWriteDeadline(s.write)
	}
	if _, err := s.conn.Write(d.out); err != nil {
		s.over = true
	}
	d.out = d.out[:0]
}

// makeRoom moves what is incomplete to the beginning of a buffer that it fits into.
func (s *session) makeRoom() {
	data := s.buffer[s.from:s.to]
	to := s.buffer
	switch {
	case len(data) == 0:
		to, s.need = s.base, 0
	case s.need > len(s.buffer):
		to = make([]byte, maxRequest)
	case s.need <= len(s.base):
		to = s.base
	}
	s.from, s.to = 0, copy(to, data)
	s.buffer = to
}
