package redisstore

import "encoding/binary"

// requestsIn counts the requests of a packed call of token buckets.
func requestsIn(arg string) (requests int) {
	groups := []byte(arg)[binary.LittleEndian.Uint32([]byte(arg[9:]))-1:]
	for ; len(groups) > 0; groups = groups[27:] {
		requests += int(binary.LittleEndian.Uint16(groups[8:]))
	}
	return requests
}
