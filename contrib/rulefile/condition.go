package rulefile

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/sluice-limiter/sluice/rule"
)

// Bounds on expressions. What a request can make them cost is bounded by its own
// size: there are no loops, and patterns are fixed when the file is read.
const (
	maxCondition = 4 << 10 // bytes of text
	maxNodesExpr = 500
	memoryBudget = 10_000
)

// builtins are the functions of the expression language that take bounded time.
var builtins = []string{"len", "lower", "upper", "trim", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "indexOf", "int", "float", "string", "abs", "min", "max"}

// Conditions compiles when: expressions. It is safe for concurrent use.
type Conditions struct {
	failed atomic.Int64
}

// NewConditions returns a compiler of expressions with a counter of its own.
func NewConditions() *Conditions { return &Conditions{} }

// Failed returns how many evaluations failed, such as int(header("X")) of a header
// that holds no number. A rule whose condition fails applies: a client must not get
// out of a limit by sending what the expression cannot read.
func (c *Conditions) Failed() int64 { return c.failed.Load() }

// Compile turns an expression into a function of a request, whose path is in canonical
// form. It is what rule.Conditions asks for, for rules that do not come from a file. The
// error is of type *[ConditionError].
func (c *Conditions) Compile(text string) (func(*rule.Request) bool, error) {
	if len(text) > maxCondition {
		reason := fmt.Sprintf("the expression has %d bytes, more than the %d that are read", len(text), maxCondition)
		return nil, &ConditionError{Line: 1, Column: 1, Reason: reason}
	}
	check := &checker{prefixes: map[string]netip.Prefix{}, hints: map[file.Location]string{}}
	opts := []expr.Option{
		expr.Env(environment), expr.AsBool(), expr.DisableAllBuiltins(), expr.MaxNodes(maxNodesExpr), expr.Patch(check),
	}
	for _, name := range builtins {
		opts = append(opts, expr.EnableBuiltin(name))
	}
	program, err := compileSafely(text, opts)
	if check.err != nil {
		err = check.err.Bind(file.NewSource(text))
	}
	if err != nil {
		return nil, conditionError(err, text, check.hints)
	}
	cond := &condition{program: program, uses: check.uses, prefixes: check.prefixes, owner: c}
	cond.pool.New = func() any { return cond.newRun() }
	return cond.fits, nil
}

// compileSafely keeps a fault of the language from ending the program.
func compileSafely(text string, opts []expr.Option) (program *vm.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the expression cannot be compiled: %v", r)
		}
	}()
	return expr.Compile(text, opts...)
}

// condition is one expression.
type condition struct {
	program  *vm.Program
	uses     uint // which variables it reads
	prefixes map[string]netip.Prefix
	pool     sync.Pool // of *run
	owner    *Conditions
}

// fits evaluates the expression. It never panics: the machine recovers by itself.
func (c *condition) fits(r *rule.Request) bool {
	run := c.pool.Get().(*run)
	run.request = r
	run.fill(c.uses)
	result, err := run.machine.Run(c.program, run.env)
	run.clear(c.uses)
	c.pool.Put(run)
	if err != nil {
		c.owner.failed.Add(1)
		return true
	}
	fits, ok := result.(bool)
	return fits || !ok
}
