package rule

import (
	"encoding/json"
	"strings"
)

// entries is a list of a match, and how its entries are told apart.
type entries struct {
	field string
	list  []string
	drop  func(*Match)
}

// longLists returns the lists of the match with two entries or more: others cover each
// other or have nothing in common.
func (c *Compiled) longLists() []entries {
	var prefixes, shapes []string
	for _, p := range c.ips.list {
		prefixes = append(prefixes, p.String())
	}
	for i := range c.paths.list {
		shapes = append(shapes, c.paths.list[i].shape())
	}
	var long []entries
	for _, e := range []entries{
		{"match.methods", c.Match.Methods, func(m *Match) { m.Methods = nil }},
		{"match.hosts", c.hosts.list, func(m *Match) { m.Hosts = nil }},
		{"match.paths", shapes, func(m *Match) { m.Paths = nil }},
		{"match.ips", prefixes, func(m *Match) { m.IPs = nil }},
	} {
		if len(e.list) > 1 {
			long = append(long, e)
		}
	}
	return long
}

// checkOverlaps finds rules with the same key whose matches differ in one list, of
// which they have some entries in common: whoever wrote the same entry into both
// hardly knew. Rules of which one covers the other, or that ask for different things,
// lie upon each other on purpose.
func (c *compiler) checkOverlaps() {
	first := map[string]*Compiled{} // with an entry, by that and all else that they have in common
	for _, b := range c.core.rules {
		if b.Mode == Off {
			continue
		}
		for _, e := range b.longLists() {
			common := b.signature(e)
			for i, entry := range e.list {
				place := common + entry
				a, ok := first[place]
				if !ok {
					first[place] = b
				} else if a != b && !a.covers(b) && !b.covers(a) {
					report{&c.findings, b.Name, b.Index}.warn(at(e.field, i), "leave it to one of the two, or make one rule of them",
						"rule %q has it too, with the same key, so that a request pays in both", clip(a.Name))
					break
				}
			}
		}
	}
}

// signature is all that makes two rules ask for the same requests and count them by
// the same key, but for one list.
func (c *Compiled) signature(but entries) string {
	match := c.Match
	but.drop(&match)
	text, err := json.Marshal(match)
	if err != nil { // there is nothing in it that cannot be written
		return ""
	}
	return strings.Join([]string{but.field, string(text), strings.Join(c.Key, "|"), string(c.Missing), string(c.Mode), ""}, "\x00")
}
