package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// What the deployment can do, by its settings. A test compares those that stand in
// deploy/k8s too.
const (
	instances     = 3
	perInstance   = 40 // requests per second that an instance serves
	instanceBurst = perInstance / 10
	capacity      = instances * perInstance

	databaseLimit    = 8  // statements at the same time, of all instances
	paceMilliseconds = 50 // how long the database works on an order
	slownessFactor   = 4  // in the second part

	perAddress   = 10 // requests per second that the gateway lets pass
	addressBurst = 20
)

// What is rehearsed.
const (
	kubernetes      = "deploy/k8s"
	gatewaySettings = "rules/gateway.yaml" // in its folder base
	redisUsers      = "components/redis/users.acl"

	// longEnough is for a Redis on a busy machine: that is no outage of it.
	longEnough = "30s"
)

// Names of those who connect to PostgreSQL.
const (
	applicationInSQL = "shop"
	observerInSQL    = "rehearsal"
)

var (
	gatewayAt = regexp.MustCompile(`the gateway listens on (http://[0-9.:]+)`)
	shopAt    = regexp.MustCompile(`listening on (http://[0-9.:]+)`)
)

// deployment is what runs.
type deployment struct {
	dir     string
	bin     string   // where the programs are
	gateway string   // its URL
	dsn     string   // of the database, without the name of the application
	redis   string   // its socket
	shops   []string // URLs

	running []running // in the order in which they were started
}

// running is a process, and the signal that ends it in good order.
type running struct {
	*process
	by syscall.Signal
}

// deploy starts everything, from the database to the gateway. What was started has to be
// ended by end, also after an error.
func deploy(ctx context.Context, o Options) (d *deployment, err error) {
	d = &deployment{bin: o.Programs}
	// In /tmp: the path of a socket must be short, and PostgreSQL's user must reach it.
	if d.dir, err = os.MkdirTemp("/tmp", "sluice-rehearsal"); err != nil {
		return d, err
	}
	if err := os.Chmod(d.dir, 0o755); err != nil {
		return d, err
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, string) error
	}{
		{"building sluice and the application", d.build},
		{"starting PostgreSQL", d.startDatabase},
		{"starting Redis", d.startStore},
		{fmt.Sprintf("starting %d instances of the application", instances), d.startShops},
		{"starting the gateway", d.startGateway},
	} {
		fmt.Fprintln(o.Progress, step.what)
		if err := step.do(ctx, o.Repository); err != nil {
			return d, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return d, nil
}

func (d *deployment) build(ctx context.Context, repository string) error {
	if d.bin != "" {
		return nil
	}
	d.bin = d.dir
	return Build(ctx, repository, d.bin)
}

// Build makes the programs of the deployment in a folder.
func Build(ctx context.Context, repository, folder string) error {
	for module, target := range map[string]string{"server": "./cmd/sluice", "e2e": "./rehearsal/shop"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", folder+"/", target)
		cmd.Dir = filepath.Join(repository, module)
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", target, err, out)
		}
	}
	return nil
}

func (d *deployment) startDatabase(ctx context.Context, _ string) error {
	dir := filepath.Join(d.dir, "postgres")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	p, dsn, err := startPostgres(ctx, dir)
	d.dsn = dsn
	return d.keep(p, syscall.SIGINT, err) // which ends sessions too
}

func (d *deployment) startStore(ctx context.Context, repository string) error {
	p, socket, err := startRedis(ctx, d.dir, filepath.Join(repository, kubernetes, redisUsers))
	d.redis = socket
	return d.keep(p, syscall.SIGTERM, err)
}

// killStore ends Redis as a crash would, with all that it knows.
func (d *deployment) killStore(context.Context, string) error {
	at := slices.IndexFunc(d.running, func(r running) bool { return r.name == redisName })
	if at < 0 {
		return errors.New("there is no Redis to be killed")
	}
	store := d.running[at]
	d.running = slices.Delete(d.running, at, at+1)
	return store.end(syscall.SIGKILL)
}

func (d *deployment) startShops(ctx context.Context, _ string) error {
	for i := range instances {
		name := fmt.Sprintf("shop-%d", i+1)
		p, err := start(name, exec.Command(filepath.Join(d.bin, "shop"), "-listen", "127.0.0.1:0", "-name", name,
			"-database", d.dsn+applicationInSQL, "-database-limit", fmt.Sprint(databaseLimit), "-database-wait", "10s",
			"-per-second", fmt.Sprint(perInstance), "-redis", d.redisFor("shop"), "-redis-deadline", longEnough))
		if err := d.keep(p, syscall.SIGTERM, err); err != nil {
			return err
		}
		url, err := p.address(ctx, shopAt)
		if err != nil {
			return err
		}
		d.shops = append(d.shops, url)
	}
	return nil
}

// startGateway runs sluice with the settings and rules of the deployment. Only addresses
// differ: the load comes from here, as from a load balancer that tells whose it is.
func (d *deployment) startGateway(ctx context.Context, repository string) error {
	rules := filepath.Join(d.dir, "rules")
	if err := os.CopyFS(rules, os.DirFS(filepath.Join(repository, kubernetes, "base/rules"))); err != nil {
		return err
	}
	file := filepath.Join(d.dir, gatewaySettings)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	local, err := replaced(string(text),
		"listen: :8000\n", "listen: 127.0.0.1:0\n  trusted: [127.0.0.1]\n",
		"[http://shop:8080]", "["+strings.Join(d.shops, ", ")+"]",
		"listen: :8080\n", "listen: 127.0.0.1:0\n",
		"  tokens: {file: /etc/sluice-tokens/tokens}\n", "",
	)
	if err != nil {
		return fmt.Errorf("%s: %w", gatewaySettings, err)
	}
	if err := os.WriteFile(file, []byte(local), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(d.bin, "sluice"), "gateway", "--config", rules)
	cmd.Env = []string{"SLUICE_REDIS=" + d.redisFor("sluice"), "SLUICE_DEADLINE=" + longEnough}
	p, err := start("the gateway", cmd)
	if err := d.keep(p, syscall.SIGTERM, err); err != nil {
		return err
	}
	d.gateway, err = p.address(ctx, gatewayAt)
	return err
}

// redisFor is how a user connects to Redis.
func (d *deployment) redisFor(user string) string {
	return "unix://" + user + ":" + password + "@" + d.redis + "?write_timeout=" + longEnough
}

// keep takes note of a process that has to be ended, whether it started well or not.
func (d *deployment) keep(p *process, by syscall.Signal, err error) error {
	if p != nil {
		d.running = append(d.running, running{p, by})
	}
	return err
}

// end ends everything, the gateway first, and removes what it left.
func (d *deployment) end() error {
	var all []error
	for i := len(d.running) - 1; i >= 0; i-- {
		all = append(all, d.running[i].end(d.running[i].by))
	}
	if d.dir != "" {
		all = append(all, os.RemoveAll(d.dir))
	}
	return errors.Join(all...)
}
