package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// sendFlags say to which server the requests of a log are sent again.
type sendFlags struct {
	target string
	speed  float64
	most   int64
	mine   bool
}

func (f *sendFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.target, "send", "", "send the requests again to this address, at their times, and compare what it says with the prediction; an address that ends in /v1/check is asked as the API of a sluice server")
	c.Flags().Float64Var(&f.speed, "speed", 1, "with --send: how many times faster than they came")
	c.Flags().Int64Var(&f.most, "send-most", 100_000, "with --send: end after so many requests")
	c.Flags().BoolVar(&f.mine, "i-own-this-target", false, "with --send: the target is another machine, and you may load it")
}

// run sends the log, each request at its time whatever became of those before it.
func (f *sendFlags) run(c *cobra.Command, set *rule.Set, log *accesslog.Log, o replay.Options) (*replay.Report, error) {
	target, err := f.check(c.Context())
	if err != nil {
		return nil, usage(err)
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	s := newSender(target, f.speed)
	defer showLine(c.ErrOrStderr(), s.progress)()
	entries := replay.Retime(limited(ctx, log.Entries(ctx), f.most), o.Spread, o.Seed, s.due)
	o.Spread, o.Sample = replay.SpreadStart, -1
	o.Decided = func(at int64, e *accesslog.Entry, ev *engine.Event) { s.send(ctx, at, e, ev.Decision.Allowed) }
	report, err := replay.Run(set, entries, o)
	if err != nil {
		cancel()
	}
	live := s.wait()
	if report != nil {
		report.Live = live
	}
	return report, err
}

// limited ends after so many entries, or with ctx: what cannot be sent is not predicted.
func limited(ctx context.Context, entries iter.Seq[*accesslog.Entry], most int64) iter.Seq[*accesslog.Entry] {
	return func(yield func(*accesslog.Entry) bool) {
		n := int64(0)
		for e := range entries {
			if ctx.Err() != nil || !yield(e) {
				return
			}
			if n++; n >= most {
				return
			}
		}
	}
}

// check finds out whether the target may be loaded.
func (f *sendFlags) check(ctx context.Context) (*url.URL, error) {
	u, err := url.Parse(f.target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--send %q: give an address such as http://127.0.0.1:8080", f.target)
	}
	if f.speed <= 0 || f.speed > 1e6 {
		return nil, fmt.Errorf("--speed %g: use a number above 0, such as 10", f.speed)
	}
	if f.most < 1 {
		return nil, fmt.Errorf("--send-most %d: send one at least", f.most)
	}
	if f.mine || isLoopback(ctx, u.Hostname()) {
		return u, nil
	}
	return nil, fmt.Errorf("--send %s is another machine: load only what you may, and say so with --i-own-this-target", f.target)
}

// isLoopback reports whether a host is this machine, by all of its addresses.
func isLoopback(ctx context.Context, host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return false
	}
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return false
		}
	}
	return true
}

// errNoAnswer is a status that tells neither allowed nor refused.
var errNoAnswer = errors.New("no answer that says allowed or refused")
