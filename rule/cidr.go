package rule

import (
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
)

// cidrTable finds the numbers, above 0, of all prefixes that an address lies in: one
// map for each length of a prefix that is in use.
type cidrTable struct {
	four []fourTable
	six  []sixTable
}

type fourTable struct {
	mask    uint32
	numbers addressTable
}

type sixTable struct {
	mask    [2]uint64
	numbers map[[2]uint64]int32
}

// add puts a number at a prefix, which is masked and not IPv4 in IPv6.
func (t *cidrTable) add(p netip.Prefix, number int32) {
	if p.Addr().Is4() {
		mask := uint32(uint64(math.MaxUint32) << (32 - p.Bits()))
		i := slices.IndexFunc(t.four, func(f fourTable) bool { return f.mask == mask })
		if i < 0 {
			i = len(t.four)
			t.four = append(t.four, fourTable{mask: mask})
		}
		t.four[i].numbers.add(fourOf(p.Addr()), number)
		return
	}
	// Shifts of 64 and more give 0.
	mask := [2]uint64{^(math.MaxUint64 >> p.Bits()), ^(math.MaxUint64 >> max(0, p.Bits()-64))}
	i := slices.IndexFunc(t.six, func(s sixTable) bool { return s.mask == mask })
	if i < 0 {
		i = len(t.six)
		t.six = append(t.six, sixTable{mask, map[[2]uint64]int32{}})
	}
	t.six[i].numbers[sixOf(p.Addr())] = number
}

func fourOf(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func sixOf(a netip.Addr) [2]uint64 {
	b := a.As16()
	return [2]uint64{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// find appends the numbers of all prefixes that a is in.
func (t *cidrTable) find(a netip.Addr, to []int32) []int32 {
	switch {
	case a.Is4():
		address := fourOf(a)
		for i := range t.four {
			f := &t.four[i]
			if masked := address & f.mask; f.numbers.begins(masked) {
				if number := f.numbers.find(masked); number != 0 {
					to = append(to, number)
				}
			}
		}
	case a.Is6():
		address := sixOf(a)
		for i := range t.six {
			mask := &t.six[i].mask
			if number := t.six[i].numbers[[2]uint64{address[0] & mask[0], address[1] & mask[1]}]; number != 0 {
				to = append(to, number)
			}
		}
	}
	return to
}

// addressTable finds numbers above 0 by IPv4 addresses, as textTable does by texts.
type addressTable struct {
	slots  []addressSlot // as many as a power of two, at least half of them free
	used   int
	firsts [4]uint64 // a bit for every first byte that there is
}

type addressSlot struct {
	address uint32
	number  int32 // 0: free
}

// begins reports whether there is an address with the same first byte: if not, there is
// no need to hash it.
func (t *addressTable) begins(address uint32) bool {
	return t.firsts[address>>30]>>(address>>24&63)&1 != 0
}

// find returns the number of an address, or 0. There is one at least in the table.
func (t *addressTable) find(address uint32) int32 { return t.place(address).number }

// place returns where an address is, or where it belongs.
func (t *addressTable) place(address uint32) *addressSlot {
	mask := uint64(len(t.slots) - 1)
	for i := multiply(uint64(address)^hashSeed, spread); ; i++ {
		if slot := &t.slots[i&mask]; slot.number == 0 || slot.address == address {
			return slot
		}
	}
}

// add gives an address a number, in place of the one that it has.
func (t *addressTable) add(address uint32, number int32) {
	if old := t.slots; 2*(t.used+1) > len(old) {
		t.slots = make([]addressSlot, max(4, 2*len(old)))
		for _, slot := range old {
			if slot.number != 0 {
				*t.place(slot.address) = slot
			}
		}
	}
	slot := t.place(address)
	if slot.number == 0 {
		t.used++
	}
	*slot = addressSlot{address, number}
	t.firsts[address>>30] |= 1 << (address >> 24 & 63)
}

// prefixes is a list of addresses and prefixes.
type prefixes struct {
	list  []netip.Prefix
	table *cidrTable // if the list is long
}

// longList is from where on a list is not tried one by one.
const longList = 8

func makePrefixes(list []netip.Prefix) prefixes {
	p := prefixes{list: list}
	if len(list) > longList {
		p.table = &cidrTable{}
		for _, prefix := range list {
			p.table.add(prefix, 1)
		}
	}
	return p
}

// contain reports whether the address of the request lies in one of them.
func (p *prefixes) contain(x *exchange) bool {
	if p.table != nil {
		x.numbers = p.table.find(x.ip, x.numbers[:0])
		return len(x.numbers) > 0
	}
	for _, prefix := range p.list {
		if prefix.Contains(x.ip) {
			return true
		}
	}
	return false
}
