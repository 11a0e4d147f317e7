package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options say what to rehearse.
type Options struct {
	Repository string        // its root folder
	Programs   string        // folder with what Build makes; if it is empty, they are made anew
	Part       time.Duration // how long each part takes
	Progress   io.Writer     // is told what happens; nobody if nil
}

// Run starts the deployment, puts load on it, and ends it. When ctx ends before, it ends
// everything in order, and the error says so.
func Run(ctx context.Context, o Options) (reports []Report, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	d, err := deploy(ctx, o)
	defer func() {
		fmt.Fprintln(o.Progress, "ending everything")
		err = errors.Join(err, d.end())
	}()
	if err != nil {
		return nil, err
	}
	db, err := connect(d.dsn + observerInSQL)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	seen := &database{DB: db}
	for _, part := range []part{
		{name: "ten times the capacity", milliseconds: paceMilliseconds, capacity: capacity},
		{
			name: "the same, and the database is four times as slow", milliseconds: paceMilliseconds * slownessFactor,
			capacity: databaseLimit * 1000 / (paceMilliseconds * slownessFactor),
		},
		{name: "ten times the capacity, and Redis dies and comes back", milliseconds: paceMilliseconds, capacity: capacity, outage: true},
	} {
		fmt.Fprintf(o.Progress, "\n%s, for %v:\n", part.name, o.Part)
		r, err := part.run(ctx, d, seen, o)
		if err != nil {
			return reports, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// part is some time under load.
type part struct {
	name         string
	milliseconds int  // that the database works on an order
	capacity     int  // what can be served then
	outage       bool // Redis is killed after a third of it, and started anew after two
}

// forgotten is how often limits are given out anew when Redis dies and comes back empty: by
// each instance in its memory, whose counters begin at zero, and then by Redis, whose do too.
const forgotten = 2

// promised returns what limits still promise in this part: so many bursts of an address, and
// so many statements at the same time. What runs when the guard loses its permits comes on
// top of what it then gives out, once: each time what ran before has ended.
func (p part) promised() (bursts, statements int) {
	if p.outage {
		return 1 + forgotten, 2 * databaseLimit
	}
	return 1, databaseLimit
}

func (p part) run(ctx context.Context, d *deployment, db *database, o Options) (Report, error) {
	bursts, statements := p.promised()
	r := Report{Part: p.name, Took: o.Part, Capacity: p.capacity, DatabaseLimit: statements}
	if err := db.slow(ctx, p.milliseconds); err != nil {
		return r, err
	}
	l := newLoad(d.gateway, overloadFactor*capacity)
	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- db.watch(watching) }()
	told := make(chan struct{})
	go func() { defer close(told); tell(watching, l, db, o.Progress) }()

	loading, cancel := context.WithTimeout(ctx, o.Part)
	outage := make(chan error, 1)
	go func() { outage <- p.disturb(loading, d, o) }()
	answers := l.run(loading)
	cancel()
	stop()
	<-told
	if err := errors.Join(ctx.Err(), <-watched, <-outage); err != nil {
		return r, err
	}
	orders, err := db.orders(ctx)
	if err != nil {
		return r, err
	}
	r.count(answers)
	r.judge(answers, bursts)
	r.Orders, r.DatabasePeak, r.DatabaseSeen = len(orders), most(orders), int(db.peak.Load())
	return r, nil
}

// disturb is what happens besides the load.
func (p part) disturb(ctx context.Context, d *deployment, o Options) error {
	if !p.outage {
		return nil
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, string) error
	}{{"        Redis is killed", d.killStore}, {"        Redis is started anew", d.startStore}} {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.Part / 3):
		}
		fmt.Fprintln(o.Progress, step.what)
		if err := step.do(ctx, o.Repository); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// tell prints a line every second.
func tell(ctx context.Context, l *load, db *database, progress io.Writer) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for second, asked, told := 1, int64(0), 0; ; second++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var r Report
		answers, now := l.since(told), l.asked.Load()
		r.count(answers)
		fmt.Fprintf(progress, "%4d s  asked %4d  served %3d  refused: %3d by the gateway, %3d by the application  5xx: %d  in the database: %d of %d\n",
			second, now-asked, r.Served, r.ByGateway, r.ByShop, r.Errors, db.recent.Swap(0), databaseLimit)
		asked, told = now, told+len(answers)
	}
}
