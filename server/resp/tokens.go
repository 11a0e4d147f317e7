package resp

import (
	"crypto/sha256"
	"crypto/subtle"
)

// tokens are those that hold, as hashes.
type tokens struct{ hashes [][sha256.Size]byte }

// has compares with all of them to the end, so that the time tells nothing about them.
func (t *tokens) has(hash [sha256.Size]byte) bool {
	fits := 0
	for i := range t.hashes {
		fits |= subtle.ConstantTimeCompare(hash[:], t.hashes[i][:])
	}
	return fits == 1
}

// SetTokens changes which tokens hold: SHA-256 hashes of them. It counts at once, also for
// connections that have shown another one. With none, everybody may ask at an address that
// cannot be reached from other machines, and nobody at any other.
func (d *Door) SetTokens(hashes [][sha256.Size]byte) { d.tokens.Store(&tokens{hashes}) }

// recheck looks whether the connection may still ask. It costs nothing as long as the
// tokens are the same.
func (s *session) recheck() {
	now := s.door.tokens.Load()
	if now == s.tokens {
		return
	}
	s.tokens = now
	switch {
	case len(now.hashes) == 0:
		s.allowed = !s.door.options.Exposed
	default:
		s.allowed = s.shown && now.has(s.token)
	}
	if s.allowed {
		s.door.connections.know(s)
	}
}

// authenticate takes a token. It returns what is wrong.
func (s *session) authenticate(token []byte) (problem string) {
	if len(s.tokens.hashes) == 0 {
		return noPasswords
	}
	hash := sha256.Sum256(token)
	if !s.tokens.has(hash) {
		return wrongPass
	}
	s.token, s.shown, s.allowed = hash, true, true
	s.door.connections.know(s)
	return ""
}
