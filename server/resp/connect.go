package resp

import (
	"bytes"
	"strings"
)

// redisVersion is the Redis whose protocol this is: clients choose by it what to send.
const redisVersion = "7.0.0"

// What clients get who have not shown a token, in the words of Redis, which they know.
const (
	needsAuth   = "NOAUTH Authentication required."
	helloAuth   = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	wrongPass   = "WRONGPASS invalid username-password pair or user is disabled."
	noPasswords = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
)

// auth answers AUTH [user] token. Which user it is does not matter.
func auth(s *session, d *desk) {
	if problem := s.authenticate(d.args[len(d.args)-1]); problem != "" {
		d.fail(problem)
		return
	}
	d.ok()
}

// hello answers HELLO [2|3 [AUTH user token] [SETNAME name]].
func hello(s *session, d *desk) {
	v3, rest := d.v3, d.args[1:]
	if len(rest) > 0 {
		n, ok := parseNumber(rest[0])
		if !ok {
			d.fail("ERR Protocol version is not an integer or out of range")
			return
		}
		if n != 2 && n != 3 {
			d.fail("NOPROTO unsupported protocol version")
			return
		}
		v3, rest = n == 3, rest[1:]
	}
	name, named := []byte(nil), false
	for len(rest) > 0 {
		switch {
		case len(rest) >= 3 && bytes.EqualFold(rest[0], []byte("AUTH")):
			if problem := s.authenticate(rest[2]); problem != "" {
				d.fail(problem)
				return
			}
			rest = rest[3:]
		case len(rest) >= 2 && bytes.EqualFold(rest[0], []byte("SETNAME")):
			name, named, rest = rest[1], true, rest[2:]
		default:
			d.fail("ERR Syntax error in HELLO option '" + shown(rest[0]) + "'")
			return
		}
	}
	switch {
	case !s.allowed:
		d.fail(helloAuth)
		return
	case named && !s.setName(name):
		d.fail(badName)
		return
	}
	s.v3, d.v3 = v3, v3
	d.greet(s)
}

// greet tells who is here.
func (d *desk) greet(s *session) {
	proto := int64(2)
	if d.v3 {
		proto = 3
	}
	d.fields(7)
	d.text("server")
	d.text("sluice")
	d.text("version")
	d.text(redisVersion)
	d.text("proto")
	d.integer(proto)
	d.text("id")
	d.integer(s.id)
	d.text("mode")
	d.text("standalone")
	d.text("role")
	d.text("master")
	d.text("modules")
	d.array(0)
}

const (
	maxName = 64
	badName = "ERR Client names cannot contain spaces, newlines or special characters, nor be longer than 64 bytes."
)

// setName gives the connection a name, if it can be one.
func (s *session) setName(name []byte) bool {
	if len(name) > maxName {
		return false
	}
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	s.name = string(name)
	return true
}

// client answers what clients tell of themselves when they connect.
func client(s *session, d *desk) {
	sub := strings.ToLower(shown(d.args[1]))
	counts := map[string]int{"setname": 3, "getname": 2, "id": 2, "setinfo": 4}
	count, known := counts[sub]
	switch {
	case !known:
		d.subcommand("CLIENT")
	case len(d.args) != count:
		d.wrongNumber("client|" + sub)
	case sub == "setname" && !s.setName(d.args[2]):
		d.fail(badName)
	case sub == "id":
		d.integer(s.id)
	case sub == "getname" && s.name == "":
		d.null()
	case sub == "getname":
		d.text(s.name)
	default: // a library tells its name and version, which is good to know and no more
		d.ok()
	}
}
