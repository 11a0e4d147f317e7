package frame

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// Config is what every benchmark can be told.
type Config struct {
	Rounds int            // measured rounds per case
	Time   time.Duration  // length of a round of one entrant
	Cases  *regexp.Regexp // nil: all
	Seed   uint64         // order of the rounds and draws of keys
}

// Runs says whether a case takes part.
func (c Config) Runs(name string) bool {
	return c.Cases == nil || c.Cases.MatchString(name)
}

// Main is the main function of a benchmark. The flags change cfg, which holds the
// defaults; more flags can be defined before the call. A Time of zero means that rounds
// are not measured by time: then there is no flag for it.
func Main(cfg *Config, list func() []string, run func() error) {
	name := os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	flag.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "measured rounds per case")
	if cfg.Time > 0 {
		flag.DurationVar(&cfg.Time, "time", cfg.Time, "length of a round of one entrant")
	}
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order and of the keys")
	flag.Func("case", "regular expression of the cases to run", Pattern(&cfg.Cases))
	names := flag.Bool("list", false, "list the cases")
	flag.Parse()
	if *names {
		fmt.Println(strings.Join(list(), "\n"))
		return
	}
	err := cfg.validate()
	if err == nil {
		err = run()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// validate refuses what would measure nothing.
func (c *Config) validate() error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag: see -help", flag.Arg(0))
	}
	if c.Rounds < 1 || flag.Lookup("time") != nil && c.Time < time.Millisecond {
		return fmt.Errorf("%d rounds of %v: at least one round of a millisecond is needed", c.Rounds, c.Time)
	}
	return nil
}

// Pattern is a flag whose value is a regular expression.
func Pattern(to **regexp.Regexp) func(string) error {
	return func(text string) (err error) {
		*to, err = regexp.Compile(text)
		return err
	}
}
