package redisstore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
)

// namer turns keys into the names of Redis keys:
//
//	prefix:1s:{key}        the states of all limits of a key
//	prefix:1l:{key}shape   one sliding log
//	prefix:1p:{key}shape   the permits of one concurrency limit
//	prefix:1r:{key}shape   the open reservations of one limit
//	prefix:1m:{group}      the members of a group
//	prefix:1t:{ping}       what a test of the server writes
//
// 1 is the version of this scheme. What stands in braces decides about the slot
// in Redis Cluster, so that all that belongs to a key lies together. A key cannot
// end its braces: "}" and "%" in it are escaped. With a tag, the tag stands in the
// braces and the key behind them.
type namer struct {
	prefix string
	secret []byte
	tag    func(key string) string
}

const (
	states       = ":1s:{"
	logs         = ":1l:{"
	permits      = ":1p:{"
	reservations = ":1r:{"
	members      = ":1m:{"
	pings        = ":1t:{"
)

// state names the Redis key in which the state of a limit lies.
func (n *namer) state(key string, p *algo.Spec) string {
	switch {
	case p.Kind == algo.SlidingLog:
		return n.name(logs, key, p)
	case p.Kind == algo.Concurrency:
		return n.name(permits, key, p)
	case p == pingSpec:
		return n.prefix + pings + key + "}"
	}
	return n.name(states, key, nil)
}

// name puts a name together; of a spec the shape is appended.
func (n *namer) name(class, key string, p *algo.Spec) string {
	in, behind := n.parts(key)
	if p != nil {
		behind += shapeText(p.Shape())
	}
	return n.prefix + class + in + "}" + behind
}

// parts returns what stands in the braces and what behind them.
func (n *namer) parts(key string) (in, behind string) {
	tag := ""
	if n.tag != nil {
		tag = n.tag(key)
	}
	if n.secret != nil {
		key = n.hash(key)
	}
	if tag == "" {
		return escape(key), ""
	}
	if n.secret != nil {
		tag = n.hash(tag)
	}
	return escape(tag), escape(key)
}

// hash makes a key unreadable to whoever does not have the secret.
func (n *namer) hash(key string) string {
	h := hmac.New(sha256.New, n.secret)
	h.Write([]byte(key))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

var escaper = strings.NewReplacer("%", "%25", "}", "%7D")

func escape(key string) string {
	if strings.IndexByte(key, '}') < 0 && strings.IndexByte(key, '%') < 0 {
		return key
	}
	return escaper.Replace(key)
}

// shapeText writes a shape in 16 digits.
func shapeText(shape uint64) string {
	text := strconv.FormatUint(shape, 16)
	return "0000000000000000"[len(text):] + text
}

// slot is the slot of Redis Cluster in which a name lies.
func slot(name string) uint16 {
	if _, rest, ok := strings.Cut(name, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			name = tag
		}
	}
	crc := uint16(0)
	for i := range len(name) {
		crc = crc<<8 ^ crcs[byte(crc>>8)^name[i]]
	}
	return crc % slotCount
}

// crcs are the checksums (CRC-16/XMODEM) of all bytes.
var crcs = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			top := crc >> 15
			crc = crc<<1 ^ 0x1021*top
		}
		table[i] = crc
	}
	return table
}()
