package recommend_test

import (
	"context"
	"fmt"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/recommend"
	"github.com/sluice-limiter/sluice/rule"
)

func Example() {
	log := accesslog.New([]accesslog.Source{accesslog.File("../accesslog/testdata/wordpress-2016.log.gz")}, accesslog.Options{})
	traffic, err := recommend.Collect(rule.Rule{Name: "per-ip", Key: []string{"ip"}}, log.Entries(context.Background()))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := recommend.Run(context.Background(), traffic, recommend.Options{Algorithms: []sluice.Algorithm{sluice.SlidingLog}, Seed: 1})
	if err != nil {
		fmt.Println(err) // a *recommend.ThinError: too few keys or days
		return
	}
	fit := report.Fits[0]
	fmt.Println(fit.Limit)
	fmt.Printf("with 95 %% confidence it refuses at most %.2f %% of the keys\n", 100*fit.Bound.Keys)
	fmt.Printf("in the check it refused %d of %d keys\n", fit.Checked.KeysDenied, fit.Checked.Keys)
	// Output:
	// sliding_log 140/m
	// with 95 % confidence it refuses at most 0.13 % of the keys
	// in the check it refused 0 of 3924 keys
}
