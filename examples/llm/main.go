// Llm limits the tokens of a language model per tenant. What an answer takes is
// known only when it is there: so the estimate is reserved before, and what was
// really used is committed after.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sluice-limiter/sluice"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	tokens := sluice.NewKeyed(sluice.PerMinute(10_000))
	questions := []struct {
		tenant         string
		estimate, used int64
	}{
		{"acme", 4_000, 2_500},
		{"acme", 4_000, 4_900}, // more than reserved: a debt
		{"acme", 4_000, 0},
		{"acme", 2_500, 2_500},
		{"umbrella", 4_000, 3_000},
	}
	for _, q := range questions {
		if err := ask(tokens, out, q.tenant, q.estimate, q.used); err != nil {
			return err
		}
	}
	return nil
}

// ask lets a tenant ask a question if the estimate fits into its budget.
func ask(tokens *sluice.Keyed, out io.Writer, tenant string, estimate, used int64) error {
	ctx := context.Background()
	r, err := tokens.Reserve(ctx, tenant, estimate)
	if err != nil {
		return err
	}
	// A bucket books the future: whoever does not want to wait gives the place back.
	if r.Delay() > 0 {
		fmt.Fprintf(out, "%s: refused, try again in %v\n", tenant, r.Delay().Round(time.Second))
		r.Cancel()
		return nil
	}
	if err := r.Commit(ctx, used); err != nil { // here is where the model answers
		return err
	}
	left, err := tokens.Peek(ctx, tenant)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: reserved %d, used %d, %d left\n", tenant, estimate, used, left.Remaining())
	return nil
}
