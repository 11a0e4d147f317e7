package rule

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// cidrTable finds the values of all prefixes that an address lies in: one map for
// each length of a prefix that is in use.
type cidrTable[T any] struct {
	four []fourTable[T]
	six  []sixTable[T]
}

type fourTable[T any] struct {
	mask   uint32
	values map[uint32]*T
}

type sixTable[T any] struct {
	bits   int
	values map[netip.Prefix]*T
}

// add puts a value at a prefix, which is masked and not IPv4 in IPv6.
func (t *cidrTable[T]) add(p netip.Prefix, value *T) {
	if !p.Addr().Is4() {
		i := slices.IndexFunc(t.six, func(s sixTable[T]) bool { return s.bits == p.Bits() })
		if i < 0 {
			i = len(t.six)
			t.six = append(t.six, sixTable[T]{bits: p.Bits(), values: map[netip.Prefix]*T{}})
		}
		t.six[i].values[p] = value
		return
	}
	mask := uint32(uint64(0xffffffff) << (32 - p.Bits()))
	i := slices.IndexFunc(t.four, func(f fourTable[T]) bool { return f.mask == mask })
	if i < 0 {
		i = len(t.four)
		t.four = append(t.four, fourTable[T]{mask: mask, values: map[uint32]*T{}})
	}
	t.four[i].values[number(p.Addr())] = value
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// find appends the values of all prefixes that a is in.
func (t *cidrTable[T]) find(a netip.Addr, to []*T) []*T {
	switch {
	case a.Is4():
		n := number(a)
		for i := range t.four {
			if value, ok := t.four[i].values[n&t.four[i].mask]; ok {
				to = append(to, value)
			}
		}
	case a.Is6():
		for i := range t.six {
			p, err := a.Prefix(t.six[i].bits)
			if value, ok := t.six[i].values[p]; ok && err == nil {
				to = append(to, value)
			}
		}
	}
	return to
}

// has reports whether a is in any of the prefixes.
func (t *cidrTable[T]) has(a netip.Addr) bool {
	if a.Is4() {
		n := number(a)
		return slices.ContainsFunc(t.four, func(f fourTable[T]) bool { return f.values[n&f.mask] != nil })
	}
	return slices.ContainsFunc(t.six, func(s sixTable[T]) bool {
		p, err := a.Prefix(s.bits)
		return err == nil && s.values[p] != nil
	})
}

// prefixes is a list of addresses and prefixes.
type prefixes struct {
	list  []netip.Prefix
	table *cidrTable[struct{}] // if the list is long
}

// longList is from where on a list is not tried one by one.
const longList = 8

func makePrefixes(list []netip.Prefix) prefixes {
	p := prefixes{list: list}
	if len(list) > longList {
		p.table = &cidrTable[struct{}]{}
		for _, prefix := range list {
			p.table.add(prefix, &struct{}{})
		}
	}
	return p
}

// contains reports whether a lies in one of them.
func (p *prefixes) contains(a netip.Addr) bool {
	if p.table != nil {
		return p.table.has(a)
	}
	for _, prefix := range p.list {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// cleanAddr returns the address by which a client is known: IPv4 also if it came
// wrapped in IPv6, and without a zone, which only this machine knows.
func cleanAddr(a netip.Addr) netip.Addr {
	if !a.Is4() {
		a = a.Unmap().WithZone("")
	}
	return a
}
