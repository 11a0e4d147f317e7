// Login protects a login form: five attempts a minute and fifty an hour for each
// address and user name together, so that neither one address can try many
// passwords of a user, nor everybody behind one address is locked out. After a
// correct password the attempts are forgotten.
package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

var rules = rule.Config{Rules: []rule.Rule{{
	Name:  "login",
	Match: rule.Match{Methods: []string{"POST"}, Paths: []string{"/login"}},
	Key:   []string{"ip", "attribute:username"},
	Limits: []rule.Limit{
		{Name: "per-minute", Limit: sluice.MustParse("sliding_log 5/m")},
		{Name: "per-hour", Limit: sluice.MustParse("sliding_log 50/h")},
	},
}}}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	set, err := rule.Compile(rules)
	if err != nil {
		return err
	}
	e, err := engine.New(set, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	for _, password := range []string{"1234", "12345", "123456", "password", "qwerty", "letmein"} {
		if err := login(e, out, "ann", password); err != nil {
			return err
		}
	}
	return login(e, out, "bob", "correct horse")
}

// login is what the form's handler does.
func login(e *engine.Engine, out io.Writer, user, password string) error {
	ctx := context.Background()
	attempt := engine.Request{
		Method: "POST", Path: "/login",
		IP:         netip.MustParseAddr("192.0.2.7"),
		Attributes: map[string]string{"username": user},
	}
	d, err := e.Check(ctx, attempt)
	switch {
	case err != nil:
		return err
	case !d.Allowed:
		fmt.Fprintf(out, "%s: too many attempts (%s), try again in %v\n", user, d.LimitName, d.RetryAfter().Round(time.Second))
	case password != "correct horse":
		fmt.Fprintf(out, "%s: wrong password, %d attempts left\n", user, d.Remaining())
	default:
		fmt.Fprintf(out, "%s: welcome\n", user)
		return e.Reset(ctx, attempt)
	}
	return nil
}
