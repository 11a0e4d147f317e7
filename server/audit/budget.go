package audit

import (
	"fmt"

	"github.com/sluice-limiter/sluice"
)

// What is done to budgets. A program may do it with every request, so such entries
// neither displace those about rules nor fill the file: some tens of them are kept at
// once, and one per second after that. What is left out is counted.

// Actions on budgets.
const (
	ActionReset  = "reset"
	ActionRefund = "refund"
)

// pace is how many entries about budgets are kept.
var pace = sluice.PerSecond(1).WithBurst(50)

// AddBudget is Add for what was done to budgets: all of it is counted, and as much as
// people can read is kept.
func (l *Log) AddBudget(e Entry) {
	if !l.pace.Allow() {
		l.left.Add(1)
		return
	}
	if n := l.left.Swap(0); n > 0 {
		e.Lines = append([]string{fmt.Sprintf("%d more before this were too many to be written down", n)}, e.Lines...)
	}
	l.add(&l.budgets, e)
}
