package rule

import (
	"math/bits"
	"math/rand/v2"
)

// textTable finds numbers above 0 by texts. It is built once and then read several
// times by every request. That is what it is made for: a text of up to 16 bytes is
// hashed by one multiplication, and compared as two numbers, without a look at it.
type textTable struct {
	slots   []textSlot // as many as a power of two, at least half of them free
	lengths uint64     // bit n: there are texts of n bytes; the last: of 63 or more
	used    int
}

type textSlot struct {
	digest
	number int32 // 0: free
	text   string
}

// digest is the beginning and the end of a text, which may overlap, and its length:
// that is all there is to know about up to 16 bytes.
type digest struct {
	first, last uint64
	length      int32
}

// find returns the number of a text, or 0. Most texts that are not there are not even
// hashed.
func (t *textTable) find(text string) int32 {
	n := len(text)
	if t.lengths>>min(n, 63)&1 == 0 {
		return 0
	}
	if n > 16 {
		return t.place(text, digestOf(text)).number
	}
	d := digest{length: int32(n)}
	d.first, d.last = ends(text)
	mask := uint64(len(t.slots) - 1)
	for i := d.hash(); ; i++ {
		if slot := &t.slots[i&mask]; slot.digest == d || slot.number == 0 {
			return slot.number
		}
	}
}

// place returns where a text is, or where it belongs.
func (t *textTable) place(text string, d digest) *textSlot {
	mask := uint64(len(t.slots) - 1)
	for i := d.hash(); ; i++ {
		if slot := &t.slots[i&mask]; slot.number == 0 || slot.digest == d && slot.text == text {
			return slot
		}
	}
}

// add gives a text, which is not empty, a number in place of the one that it has.
func (t *textTable) add(text string, number int32) {
	if 2*(t.used+1) > len(t.slots) {
		t.grow()
	}
	d := digestOf(text)
	slot := t.place(text, d)
	if slot.number == 0 {
		t.used++
	}
	*slot = textSlot{d, number, text}
	t.lengths |= 1 << min(len(text), 63)
}

func (t *textTable) grow() {
	old := t.slots
	t.slots = make([]textSlot, max(4, 2*len(old)))
	for _, slot := range old {
		if slot.number != 0 {
			*t.place(slot.text, slot.digest) = slot
		}
	}
}

// digestOf returns the digest of a text that is not empty. What lies between beginning
// and end is mixed into the beginning.
func digestOf(s string) digest {
	d := digest{length: int32(len(s))}
	d.first, d.last = ends(s)
	for i := 8; i < len(s)-8; i += 8 {
		d.first = multiply(d.first^hashSeed, spread) ^ word(s[i:])
	}
	return d
}

// ends returns the beginning and the end of a text.
func ends(s string) (first, last uint64) {
	n := len(s)
	switch {
	case n >= 8:
		return word(s), word(s[n-8:])
	case n >= 4:
		return halfWord(s), halfWord(s[n-4:])
	}
	return uint64(s[0]) | uint64(s[n>>1])<<8, uint64(s[n-1])
}

func (d *digest) hash() uint64 {
	return multiply(d.first^hashSeed, d.last^uint64(d.length)^spread)
}

// hashSeed is another one in every process, so that nobody can write rules whose
// texts all lie in one place.
var hashSeed = rand.Uint64()

// spread has no pattern in its bits.
const spread = 0x9e3779b97f4a7c15

func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
