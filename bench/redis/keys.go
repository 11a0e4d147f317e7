package redis

// keyLen is the length of every key in bytes.
const keyLen = 16

const hexDigits = "0123456789abcdef"

// makeKeys returns n distinct keys without a common prefix: the hexadecimal
// digits of mixed numbers.
func makeKeys(n int) []string {
	b := make([]byte, 0, n*keyLen)
	for i := range n {
		x := mix(uint64(i))
		for shift := 60; shift >= 0; shift -= 4 {
			b = append(b, hexDigits[x>>shift&15])
		}
	}
	text, keys := string(b), make([]string, n)
	for i := range keys {
		keys[i] = text[i*keyLen : (i+1)*keyLen]
	}
	return keys
}

// mix is the finaliser of splitmix64, which maps numbers one to one.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
