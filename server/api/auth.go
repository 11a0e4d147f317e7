package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// HashToken returns what Options.Tokens holds of a token.
func HashToken(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Fits reports whether a token is one of those with these hashes. All are compared to the
// end, so that the time tells nothing about them.
func Fits(tokens [][sha256.Size]byte, token string) bool {
	hash, fits := HashToken(token), 0
	for i := range tokens {
		fits |= subtle.ConstantTimeCompare(hash[:], tokens[i][:])
	}
	return fits == 1
}

// MayAsk reports whether the API would answer r: it has one of the tokens or, if there
// are none, was sent to a name that only this machine has. It is for doors beside the
// API, at the same address.
func MayAsk(r *http.Request, tokens [][sha256.Size]byte) bool {
	return addressed(r, tokens) && authorized(r, tokens)
}

// authorized reports whether r carries one of the tokens, if there are any.
func authorized(r *http.Request, tokens [][sha256.Size]byte) bool {
	if len(tokens) == 0 {
		return true
	}
	given, ok := bearer(r)
	return ok && Fits(tokens, given)
}

// bearer returns the token of a request.
func bearer(r *http.Request) (token string, ok bool) {
	lines := r.Header["Authorization"]
	if len(lines) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(lines[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
