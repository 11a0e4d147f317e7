package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// HashToken returns what Options.Tokens holds of a token.
func HashToken(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// authorized reports whether r carries one of the tokens. All are compared to the end,
// so that the time tells nothing about them.
func (h *handler) authorized(r *http.Request) bool {
	tokens := h.options.Tokens
	if len(tokens) == 0 {
		return true
	}
	given, ok := bearer(r)
	if !ok {
		return false
	}
	hash, fits := HashToken(given), 0
	for i := range tokens {
		fits |= subtle.ConstantTimeCompare(hash[:], tokens[i][:])
	}
	return fits == 1
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
