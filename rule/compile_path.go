package rule

import (
	"fmt"
	"strings"
)

// compilePaths reads the paths of a match, save for those that are wrong.
func (c *compiler) compilePaths(rep report, paths []string) []pattern {
	out := make([]pattern, 0, len(paths))
	for i, text := range paths {
		p, reason, hint := parsePattern(text, c.core.config.Paths.FoldCase)
		if reason != "" {
			rep.fault(at("match.paths", i), hint, "%q %s", clip(text), reason)
			continue
		}
		out = append(out, p)
	}
	return out
}

// parsePattern reads a path of a match. It has to be canonical, so that what is
// written is what is compared.
func parsePattern(text string, fold bool) (p pattern, reason, hint string) {
	if !strings.HasPrefix(text, "/") {
		return p, "does not begin with a slash", "write /" + text
	}
	if end := strings.IndexAny(text, "?#"); end >= 0 {
		return p, "has a query or a fragment, which no path has", "write " + text[:end] + "; for the query use the key part query:NAME or when"
	}
	path, below := strings.CutSuffix(text, "/*")
	if below && path == "" {
		path = "/"
	}
	canonical, ends, ambiguous := canonicalPath(path, fold, nil)
	if ambiguous {
		return p, "can be read in more than one way", "leave out encoded slashes, backslashes, semicolons and broken escapes; write % as %25"
	}
	if canonical != path && !(fold && strings.EqualFold(canonical, path)) {
		if below {
			canonical = strings.TrimSuffix(canonical, "/") + "/*"
		}
		return p, "is not in canonical form and would never match", "write " + canonical
	}
	p = pattern{text: canonical, literal: true, below: below}
	original, ends2, _ := canonicalPath(path, false, nil)
	for i := range ends {
		segment := segmentAt(canonical, ends, i)
		name, bad := variableName(segmentAt(original, ends2, i))
		if bad != "" {
			return p, bad, "a variable is a whole segment, such as {id}; only the last one may be *"
		}
		if name != "" && p.variable(name) >= 0 {
			return p, fmt.Sprintf("has two variables named %q", name), "give them different names"
		}
		p.segments = append(p.segments, segment)
		p.names = append(p.names, name)
		p.literal = p.literal && name == ""
	}
	return p, "", ""
}

// variableName returns the name of a segment that is a variable, or what is wrong.
func variableName(segment string) (name, reason string) {
	if !strings.ContainsAny(segment, "{}*") {
		return "", ""
	}
	inner, open := strings.CutPrefix(segment, "{")
	inner, shut := strings.CutSuffix(inner, "}")
	if !open || !shut || inner == "" || !isName(inner) || strings.Contains(inner, "/") {
		return "", fmt.Sprintf("has the segment %q", clip(segment))
	}
	return inner, ""
}

// isName reports whether s has only letters, digits and _ . - /.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("_.-/", c) < 0 {
			return false
		}
	}
	return s != ""
}
