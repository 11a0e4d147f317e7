package resp

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/bench/redis"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Config says what to run.
type Config struct {
	frame.Config
	Requests int // per round of one entrant without a pipeline; with one, five times as many
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
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		return fmt.Errorf("%w: install Redis (on Debian: apt-get install redis-server)", err)
	}
	var addresses [places]string
	var stop func()
	var err error
	if addresses[redisServer], stop, err = redis.Serve(); err != nil {
		return err
	}
	defer stop()
	if err := keepList(addresses[redisServer]); err != nil {
		return err
	}
	if addresses[constant], stop, err = serveConstant(); err != nil {
		return err
	}
	defer stop()
	program, err := launch()
	if err != nil {
		return err
	}
	defer program.stop()
	addresses[sluice] = program.address
	r := rand.New(rand.NewPCG(cfg.Seed, 1))
	header(cfg, out)
	for _, l := range lineups() {
		if !cfg.Runs(l.name) {
			continue
		}
		fmt.Fprintln(progress, "case:", l.name)
		if err := l.run(cfg, r, &addresses); err != nil {
			return fmt.Errorf("case %s: %w", l.name, err)
		}
		l.print(out)
	}
	return nil
}

// run measures the entrants round by round, after one that only warms up.
func (l *lineup) run(cfg Config, r *rand.Rand, addresses *[places]string) error {
	order := make([]*entrant, len(l.entrants))
	for i := range order {
		order[i] = &l.entrants[i]
	}
	n := cfg.Requests
	if l.pipeline > 1 {
		n *= 5
	}
	for round := range cfg.Rounds + 1 {
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for _, e := range order {
			rate, err := l.measure(e, addresses[e.at], n)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if round > 0 {
				e.rates = append(e.rates, rate)
			}
		}
	}
	return nil
}

// measure lets redis-benchmark ask, and returns the requests per second.
func (l *lineup) measure(e *entrant, address string, n int) (float64, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	args := []string{"-h", host, "-p", port, "-n", strconv.Itoa(n), "-P", strconv.Itoa(l.pipeline), "--csv"}
	if l.keys > 0 {
		args = append(args, "-r", strconv.Itoa(l.keys))
	}
	text, err := exec.Command("redis-benchmark", append(args, e.command...)...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, text)
	}
	return parseRate(string(text))
}

// parseRate reads the second field of the last line: "name","rate",…
func parseRate(csv string) (float64, error) {
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	fields := strings.Split(lines[len(lines)-1], `","`)
	if len(fields) < 2 {
		return 0, fmt.Errorf("redis-benchmark says %q", csv)
	}
	return strconv.ParseFloat(strings.Trim(fields[1], `"`), 64)
}
