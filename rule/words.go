package rule

// Text is looked at in words of eight bytes: a question about all of them takes a few
// instructions and no branch. An answer is marks, of which each is the highest bit of
// a byte, and 0 if there is nothing to mark.
//
// The additions and subtractions go over from one byte into the next only if the
// lower one is marked itself, or not ASCII. So who asks whether there is any such byte
// gets the right answer if he asks for what is not ASCII as well.
const (
	eachByte = 0x0101010101010101
	lowBits  = 0x7f7f7f7f7f7f7f7f
	marks    = 0x8080808080808080
)

// word returns the first eight bytes of s, which has as many.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// halfWord returns the first four bytes of s, which has as many.
func halfWord(s string) uint64 {
	_ = s[3]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// filling stands where a short text has no bytes: a letter that nobody asks for.
const filling = 'a' * eachByte

// shortWord returns the bytes of s, of which there are one to seven.
func shortWord(s string) uint64 {
	n := len(s)
	w := uint64(filling) << (8 * n)
	if n >= 4 { // both halves overlap where they are the same
		return w | halfWord(s) | halfWord(s[n-4:])<<(8*(n-4))
	}
	return w | uint64(s[0]) | uint64(s[n>>1])<<(8*(n>>1)) | uint64(s[n-1])<<(8*(n-1))
}

// mixedWord returns the bytes of s, of which there are one to seven, some of them
// twice and in no order: for questions to which that makes no difference.
func mixedWord(s string) uint64 {
	n := len(s)
	if n >= 4 {
		return halfWord(s) | halfWord(s[n-4:])<<32
	}
	return uint64(s[0]) | uint64(s[n>>1])<<8 | uint64(s[n-1])<<16 | filling&^0xffffff
}

// equal marks exactly the bytes that are c.
func equal(w uint64, c byte) uint64 {
	w ^= uint64(c) * eachByte
	return ^(w&lowBits + lowBits | w) & marks
}

// has gives marks if a byte of ASCII is c.
func has(w uint64, c byte) uint64 { return (w ^ uint64(c)*eachByte) - eachByte }

// below gives marks if a byte of ASCII is less than c.
func below(w uint64, c byte) uint64 { return w - uint64(c)*eachByte }

// from gives marks if a byte of ASCII is c or more.
func from(w uint64, c byte) uint64 { return w + uint64(0x80-c)*eachByte }

// upper gives marks if a byte of ASCII is a capital letter.
func upper(w uint64) uint64 { return from(w, 'A') &^ from(w, 'Z'+1) }
