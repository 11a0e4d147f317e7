package rule

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// TestCIDRTableFindsAll: the table finds exactly the prefixes that an address is in, of
// every length and with every first byte.
func TestCIDRTableFindsAll(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	four := func() netip.Addr {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, r.Uint32())))
	}
	var table cidrTable
	numbers := map[netip.Prefix]int32{}
	for i := range 600 {
		p, err := four().Prefix(i % 33)
		if err != nil {
			t.Fatal(err)
		}
		if i%33 == 8 {
			p = netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(i)}), 8)
		}
		numbers[p] = int32(i + 1)
		table.add(p, int32(i+1))
	}
	try := func(a netip.Addr) {
		var want []int32
		for p, number := range numbers {
			if p.Contains(a) {
				want = append(want, number)
			}
		}
		got := table.find(a, nil)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v is in %d, want %d", seed, a, got, want)
		}
	}
	for range 500 {
		try(four())
	}
	for p := range numbers {
		try(p.Addr())
		try(p.Addr().Prev().Unmap())
	}
}
