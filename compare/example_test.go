package compare_test

import (
	"fmt"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/compare"
)

func ExampleRun() {
	limits := []sluice.Limit{sluice.MustParse("fixed_window 100/s"), sluice.MustParse("sliding_log 100/s")}
	traffic, err := compare.Pattern("edge", limits[0], 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := compare.Run(traffic, limits)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		fmt.Printf("%v: %d in any second\n", r.Limit, r.WorstPeriod)
	}
	// Output:
	// fixed_window 100/s: 200 in any second
	// sliding_log 100/s: 100 in any second
}
