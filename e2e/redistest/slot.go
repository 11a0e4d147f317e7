package redistest

import "strings"

// Slots is the number of slots of a Cluster.
const Slots = 16384

// Slot returns the slot of a key: that of the part in braces, if there is one.
func Slot(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	crc := uint16(0) // CRC-16/XMODEM
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			if carry := crc&0x8000 != 0; carry {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % Slots
}
