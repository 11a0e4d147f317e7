package rule

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// checkLists finds entries of lists that are there twice, or that another one covers.
// A list with an entry that could not be read is left alone.
func checkLists(rep report, out *Compiled) {
	m := &out.Match
	checkTwice(rep, "match.methods", m.Methods)
	if len(out.hosts.list) == len(m.Hosts) {
		checkTwice(rep, "match.hosts", out.hosts.list)
		checkHosts(rep, out.hosts.list)
	}
	if len(out.paths.list) == len(m.Paths) {
		shapes := make([]string, len(out.paths.list))
		for i := range shapes {
			shapes[i] = out.paths.list[i].shape()
		}
		checkTwice(rep, "match.paths", shapes)
		checkPaths(rep, out)
	}
	checkPrefixes(rep, "match.ips", out.ips.list, m.IPs)
	checkPrefixes(rep, "skip.ips", out.skipIPs.list, out.Skip.IPs)
}

// checkTwice finds entries of a list that are there twice.
func checkTwice(rep report, field string, list []string) {
	seen := map[string]int{}
	for i, entry := range list {
		if first, ok := seen[entry]; ok {
			rep.warn(at(field, i), "leave one out", "says the same as %s", at(field, first))
			continue
		}
		seen[entry] = i
	}
}

// warnCovered reports an entry that another one covers.
func warnCovered(rep report, field string, inner, outer int, what, by string) {
	rep.warn(at(field, inner), "leave it out", "%q does nothing: %s has %q", clip(what), at(field, outer), clip(by))
}

// checkHosts finds hosts below a wildcard of the same list.
func checkHosts(rep report, hosts []string) {
	wild := map[string]int{}
	for i, h := range hosts {
		if parent, ok := strings.CutPrefix(h, "*."); ok {
			wild[parent] = i
		}
	}
	for i, h := range hosts {
		for parent := strings.TrimPrefix(h, "*."); parent != ""; {
			_, parent, _ = strings.Cut(parent, ".")
			if outer, ok := wild[parent]; ok {
				warnCovered(rep, "match.hosts", i, outer, h, hosts[outer])
				break
			}
		}
	}
}

// mostPaths is up to how many paths of a rule are compared with each other.
const mostPaths = 500

// checkPaths finds paths that another one of the same list covers. The first that fits
// tells what the variables of the key are, so that an entry before the one that covers
// it does something then.
func checkPaths(rep report, out *Compiled) {
	paths := out.paths.list
	if len(paths) > mostPaths {
		return
	}
	for i := range paths {
		for j := range paths {
			if i == j || paths[i].shape() == paths[j].shape() || j > i && out.key.has(variablePart) || !patternCovers(paths[j], paths[i]) {
				continue
			}
			warnCovered(rep, "match.paths", i, j, paths[i].written(), paths[j].written())
			break
		}
	}
}

// checkPrefixes finds prefixes that are there twice, or in another one. In order, a
// prefix comes right after one that it is in, or after others that are in that one.
func checkPrefixes(rep report, field string, list []netip.Prefix, written []string) {
	if len(list) != len(written) {
		return
	}
	texts, order := make([]string, len(list)), make([]int, len(list))
	for i, p := range list {
		texts[i], order[i] = p.String(), i
	}
	checkTwice(rep, field, texts)
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(list[i].Addr().Compare(list[j].Addr()), cmp.Compare(list[i].Bits(), list[j].Bits()), cmp.Compare(i, j))
	})
	outer := -1
	for _, i := range order {
		switch {
		case outer < 0 || !prefixCovers(list[outer], list[i]):
			outer = i
		case list[outer] != list[i]:
			warnCovered(rep, field, i, outer, written[i], written[outer])
		}
	}
}
