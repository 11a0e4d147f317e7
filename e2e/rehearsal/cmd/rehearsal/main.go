// Command rehearsal runs the reference deployment of deploy/k8s on this machine, asks it for
// ten times of what it can do, and tells what came of it. Ctrl-C ends it in good order.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sluice-limiter/sluice/e2e/rehearsal"
)

// enough is the share of the capacity that has to be served.
const enough = 0.8

func main() {
	repository := flag.String("repository", "..", "root `folder` of the repository")
	length := flag.Duration("part", 15*time.Second, "how long each of the three parts takes")
	flag.Parse()
	if flag.NArg() > 0 || *length < time.Second {
		fmt.Fprintln(os.Stderr, "rehearsal: there are no arguments, and -part has to be 1s or more")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
	reports, err := rehearsal.Run(ctx, rehearsal.Options{Repository: *repository, Part: *length, Progress: os.Stdout})
	good := print(os.Stdout, reports)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "rehearsal: interrupted; everything has ended")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "rehearsal:", err)
		os.Exit(1)
	case !good:
		os.Exit(1)
	}
}

// print tells what came of each part, and whether all of it is good.
func print(out io.Writer, reports []rehearsal.Report) bool {
	good := true
	for i := range reports {
		r := &reports[i]
		problems := r.Problems()
		share := r.Goodput() / float64(r.Capacity)
		fmt.Fprintf(out, "\n%s\n", r.Part)
		fmt.Fprintf(out, "  offered       %6.0f/s\n", float64(r.Offered)/r.Took.Seconds())
		fmt.Fprintf(out, "  served        %6.1f/s, %.0f %% of the %d/s that are possible\n", r.Goodput(), 100*share, r.Capacity)
		fmt.Fprintf(out, "  refused       %6d by the gateway, %d by the application, all with 429\n", r.ByGateway, r.ByShop)
		fmt.Fprintf(out, "  5xx           %6d\n", r.Errors)
		fmt.Fprintf(out, "  the database  %6d at the same time at most, by its own record; promised are %d\n", r.DatabasePeak, r.DatabaseLimit)
		fmt.Fprintf(out, "  its orders    %6d, clients were told of %d\n", r.Orders, r.Served)
		if share < enough {
			problems = append(problems, fmt.Sprintf("%s: only %.0f %% of the capacity was served; is the machine busy with something else?", r.Part, 100*share))
		}
		for _, p := range problems {
			fmt.Fprintln(out, "  WRONG:", p)
		}
		good = good && len(problems) == 0
	}
	if good && len(reports) > 0 {
		fmt.Fprintln(out, "\nThe application served its capacity, the database never saw more than was promised, and nobody got a 5xx.")
	}
	return good
}
