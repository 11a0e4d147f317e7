package rls

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Config says what to run.
type Config struct {
	Rounds int            // measured rounds per case
	Time   time.Duration  // length of a round of one entrant
	Cases  *regexp.Regexp // nil: all
	Seed   uint64         // order of the rounds
}

// lineup is a case: a load that all entrants get.
type lineup struct {
	name, says string
	load       load
}

func lineups() []lineup {
	return []lineup{
		{"one-key", "All requests are of one key, and allowed.", load{"one", 1, 64, 4}},
		{"many-keys", "100,000 keys, all allowed.", load{"many", 100_000, 64, 4}},
		{"denied-key", "All requests are of one key that is used up.", load{"denied", 1, 64, 4}},
	}
}

// CaseNames lists the names of all cases.
func CaseNames() []string {
	var names []string
	for _, l := range lineups() {
		names = append(names, l.name)
	}
	return names
}

// Run runs the cases and prints a table of each.
func Run(cfg Config, out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "sluice-bench-rls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root, err := repository()
	if err != nil {
		return err
	}
	b := &bench{dir: dir, root: root}
	fmt.Fprintln(progress, "building")
	if err := b.prepare(); err != nil {
		return err
	}
	redis, err := b.startRedis()
	if err != nil {
		return err
	}
	defer redis.stop()
	entrants, err := b.enter()
	for _, e := range entrants {
		defer e.stop()
	}
	if err != nil {
		return err
	}
	header(cfg, out)
	r := rand.New(rand.NewPCG(cfg.Seed, 1))
	for _, l := range lineups() {
		if cfg.Cases != nil && !cfg.Cases.MatchString(l.name) {
			continue
		}
		fmt.Fprintln(progress, "case:", l.name)
		if err := l.run(entrants, cfg, r); err != nil {
			return fmt.Errorf("case %s: %w", l.name, err)
		}
		l.print(out, entrants)
	}
	return nil
}

// run measures one case: one round to warm up, then rounds in changing order.
func (l lineup) run(entrants []*entrant, cfg Config, r *rand.Rand) error {
	for _, e := range entrants {
		e.rounds = e.rounds[:0]
	}
	for n := range cfg.Rounds + 1 {
		for _, i := range r.Perm(len(entrants)) {
			e := entrants[i]
			measured, err := l.load.measure(e.address, cfg.Time)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if n > 0 {
				e.rounds = append(e.rounds, measured)
			}
		}
	}
	return nil
}

// repository returns its folder: that of this module is two below it.
func repository() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(strings.TrimSpace(string(out))))), nil
}

// startRedis starts a server of our own.
func (b *bench) startRedis() (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	b.redis = address
	_, port, _ := strings.Cut(address, ":")
	return launch(address, nil, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", b.dir)
}
