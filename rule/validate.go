package rule

import "slices"

// How ambiguous paths are taken.
const (
	ambiguousReject = "reject"
	ambiguousDecode = "decode"
)

// checkConfig checks what is not about one rule.
func (c *compiler) checkConfig() {
	config := &c.core.config
	whole := c.whole()
	checkEnum(whole, "default", config.Default, Allow, Deny)
	checkEnum(whole, "paths.ambiguous", config.Paths.Ambiguous, ambiguousReject, ambiguousDecode)
	if len(config.Rules) == 0 {
		what := "let through"
		if config.Default == Deny {
			what = "denied"
		}
		whole.warn("rules", "add a rule", "no rules: every request is %s", what)
	}
	seen := map[string]int{}
	for i, r := range config.Rules {
		rep := report{&c.findings, r.Name, i}
		switch first, dup := seen[r.Name]; {
		case r.Name == "":
			rep.fault("name", "give every rule a name of its own", "missing")
		case len(r.Name) > maxName || !isName(r.Name):
			rep.fault("name", "use up to 128 letters, digits and _ . - /", "%q cannot be a name", clip(r.Name))
		case dup:
			rep.fault("name", "give every rule a name of its own", "rules[%d] has the same name", first)
		default:
			seen[r.Name] = i
		}
	}
}

// maxName is the longest name of a rule, so that there is room for a key beside it.
const maxName = 128

func checkEnums(rep report, r Rule) {
	checkEnum(rep, "missing", r.Missing, MissingSkip, MissingShared, MissingDeny)
	checkEnum(rep, "scope", r.Scope, Cluster, Instance, Split)
	checkEnum(rep, "on_store_error", r.OnStoreError, ErrorLocal, ErrorAllow, ErrorDeny)
	checkEnum(rep, "mode", r.Mode, Enforce, Shadow, Off)
	checkEnum(rep, "headers", r.Headers, HeadersDraft10, HeadersDraft11, HeadersDraft07, HeadersDraft06, HeadersLegacy, HeadersNone)
}

func checkEnum[T ~string](rep report, field string, value T, known ...T) {
	if value == "" || slices.Contains(known, value) {
		return
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	rep.fault(field, suggest(string(value), words...), "%q is unknown", clip(string(value)))
}
