package recommend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteRules writes a rule file with the first recommended limit, in shadow, and comments
// that tell why it is this one.
func (r *Report) WriteRules(w io.Writer) error {
	var out bytes.Buffer
	comment := func(format string, args ...any) {
		for line := range strings.Lines(fmt.Sprintf(format, args...)) {
			fmt.Fprintf(&out, "# %s\n", strings.TrimSpace(line))
		}
	}
	f := &r.Fits[0]
	comment("Written by sluice recommend. In shadow the rule decides and reports, and refuses nobody.")
	comment("Watch what it would refuse; then replace mode by rollout: 1%%, 10%%, and remove that.")
	out.WriteString("#\n")
	comment("From %s requests of %s keys, %s to %s.", thousands(r.Requests), thousands(r.Keys), date(r.From), date(r.To))
	comment("%s keys did not count, for they look like scanners or attackers.", thousands(r.Labels.Keys))
	comment("Why %s: of its kind it is the smallest that would have kept to the target, at most", f.Limit)
	comment("%s of the requests and %s of the keys that count, until %s.", percent(r.Target.Requests), percent(r.Target.Keys), date(r.Split))
	comment("With 95 %% confidence it refuses at most %s of their requests and %s of the keys.", percent(f.Bound.Requests), percent(f.Bound.Keys))
	comment("Checked on the rest of the time: it refused %s of %s requests, of %s of %s keys.",
		thousands(f.Checked.Denied), thousands(f.Checked.Requests), thousands(f.Checked.KeysDenied), thousands(f.Checked.Keys))
	if !f.Inside {
		comment("That is ABOVE the bound: traffic has changed. Look at who would be refused first.")
	}
	comment("A client that never pauses gets %s in 1 %s at most.", thousands(f.Most), r.per())
	fmt.Fprintf(&out, "rules:\n  - name: %s\n", r.Rule)
	for _, field := range []struct {
		name  string
		value any
	}{{"match", r.Match}, {"skip", r.Skip}, {"key", r.Key}, {"missing", r.Missing}, {"cost", r.Cost}} {
		text, err := json.Marshal(field.value)
		if err != nil {
			return err
		}
		if s := string(text); s != "{}" && s != `""` && s != "0" { // JSON is YAML too
			fmt.Fprintf(&out, "    %s: %s\n", field.name, text)
		}
	}
	fmt.Fprintf(&out, "    mode: shadow\n    limits:\n      - %s\n", f.Limit)
	for _, other := range r.Fits[1:] {
		fmt.Fprintf(&out, "      # or: %s\n", other.Limit)
	}
	_, err := w.Write(out.Bytes())
	return err
}
