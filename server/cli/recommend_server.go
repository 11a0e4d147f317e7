package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
)

// ofLogs are the flags that a record needs no answer to: the rule says for whom it is, and
// the server how it writes.
var ofLogs = []string{"key", "name", "path", "method", "allow", "format", "field", "zone", "window", "sort", "spread"}

// recorded is the key of a record's lines.
const recorded = "attribute:key"

// check tells of arguments and flags that contradict each other.
func (f *recommendFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.rule == "" && len(args) == 0:
		return usage(errors.New("no log: name one, or a rule of a running server by --rule"))
	case f.rule == "" && c.Flags().Changed("server"):
		return usage(errors.New("--server without --rule: name the rule whose record to ask for; sluice rules list tells their names"))
	case f.rule == "":
		return nil
	case len(args) > 0:
		return usage(fmt.Errorf("--rule and %s: a limit comes from a server's record or from logs, not from both", args[0]))
	}
	for _, name := range ofLogs {
		if c.Flags().Changed(name) {
			return usage(fmt.Errorf("--%s and --rule: that is for logs; the rule itself says for whom it is", name))
		}
	}
	return nil
}

// openRecord returns a rule of a server, and what that remembers of its requests.
func (f *recommendFlags) openRecord(ctx context.Context) (rule.Rule, *accesslog.Log, io.Closer, error) {
	path := "/v1/rules/" + strings.ReplaceAll(url.PathEscape(f.rule), "%2F", "/")
	var detail api.RuleDetail
	if err := f.server.ask(ctx, http.MethodGet, path, nil, &detail); err != nil {
		return rule.Rule{}, nil, nil, err
	}
	if len(detail.Rule.Key) == 0 {
		return rule.Rule{}, nil, nil, usage(fmt.Errorf("--rule %s: it has no key, but one budget for all: there is nobody to compare with", f.rule))
	}
	body, err := f.server.stream(ctx, path+"/record")
	if err != nil {
		return rule.Rule{}, nil, nil, err
	}
	o := accesslog.Options{Window: f.log.window}
	if o.Format, err = accesslog.Lookup("csv", o.Settings); err != nil {
		return rule.Rule{}, nil, nil, errors.Join(err, body.Close())
	}
	return detail.Rule, accesslog.New([]accesslog.Source{accesslog.Stream("record of "+f.rule, body)}, o), body, nil
}

// shortRecord adds to a refusal how long a server remembers.
func (f *recommendFlags) shortRecord(err error) error {
	if f.rule == "" {
		return err
	}
	return fmt.Errorf("%w\nthe server remembers for as long as its setting record.age says (an hour unless set, 7 days at most), if record.memory holds so much: "+
		"16 bytes for each decision of a rule; or recommend from the access log of what stands before it", err)
}
