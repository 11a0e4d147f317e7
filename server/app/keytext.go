package app

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/sluice-limiter/sluice/server/config"
)

// keyText writes keys as the setting log.keys wants them.
type keyText struct {
	how    string // config.KeysHashed, KeysPlain or KeysHidden
	secret []byte
}

// newKeyText needs no secret: then hashes tell keys apart within one life of the process.
func newKeyText(how string, secret []byte) keyText {
	if secret == nil {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // it never fails
	}
	return keyText{how, secret}
}

// text returns a key as it is shown; empty if it is not.
func (k keyText) text(key string) string {
	switch k.how {
	case config.KeysHidden:
		return ""
	case config.KeysPlain:
		return key
	}
	h := hmac.New(sha256.New, k.secret)
	_, _ = h.Write([]byte(key))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
