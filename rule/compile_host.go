package rule

import "strings"

// compileHosts checks the hosts of a match and makes them canonical.
func compileHosts(rep report, hosts []string) []string {
	var out []string
	for i, h := range hosts {
		field, name := at("match.hosts", i), strings.TrimPrefix(h, "*.")
		host := canonicalHost(name)
		switch bare := bareHost(name); {
		case h == "*":
			rep.fault(field, "leave hosts out to match all", "%q is no host", h)
		case strings.HasPrefix(h, ".") && host != "" && isHost(host[1:]):
			rep.fault(field, "write *"+host+" for all below it, or "+host[1:], "%q begins with a dot", clip(h))
		case bare != name && isHost(bare):
			rep.fault(field, "write "+strings.TrimSuffix(h, name)+bare, "%q is more than a host", clip(h))
		case !isHost(host):
			rep.fault(field, "use a name such as api.example.com or *.example.com", "%q is no host", clip(h))
		case !isASCII(host):
			rep.fault(field, "write it in the form that begins with xn--", "%q is not how hosts are sent", clip(h))
		case host != name && strings.ToLower(strings.TrimSuffix(name, ".")) != host:
			rep.fault(field, "write "+strings.TrimSuffix(h, name)+host, "%q has a port, or is not written in the usual way", clip(h))
		default:
			out = append(out, strings.TrimSuffix(h, name)+host)
		}
	}
	return out
}

// isHost reports whether a canonical host can be one.
func isHost(host string) bool {
	return host != "" && host[0] != '.' && !strings.ContainsAny(host, "*/@?# ") && !strings.Contains(host, "..")
}

// bareHost returns the host of a URL, also of one without a scheme; what is none stays
// as it is.
func bareHost(text string) string {
	_, rest, scheme := strings.Cut(text, "://")
	if !scheme {
		rest = text
	}
	host, _, more := strings.Cut(rest, "/")
	if !scheme && !more {
		return text
	}
	return canonicalHost(host)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
