package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// sizedKeys fill the server's tables to the same degree as 100,000 do.
	sizedKeys    = 25_000
	sizedCallers = 8
	sizedTime    = 15 * time.Second
)

// bytesPerKey measures what a key costs in Redis: the growth of the memory in
// use, and the sum of MEMORY USAGE.
func (r *Runner) bytesPerKey([]string) error {
	res := Result{
		Case: "bytes-per-key", Title: "token bucket or what comes next to it, 16-byte keys", Unit: "bytes of Redis per key",
		Lower: true, Columns: []string{"MEMORY USAGE", "Redis keys per key"},
	}
	for _, c := range r.contestants {
		if c.Kind != Ours && c.Kind != Peer {
			continue
		}
		r.say("bytes-per-key: %s", c.Name)
		f, err := r.sizeOf(c)
		if err != nil {
			return err
		}
		res.Figures = append(res.Figures, f)
		if c.Kind == Ours {
			res.Bars = []Bar{{What: "bytes per key", Got: f.Value, Want: 165, AtMost: true}}
		}
	}
	r.add(res)
	return nil
}

// sizeOf measures one contestant. No client is connected when memory is read,
// so that their buffers do not count; scripts are loaded before.
func (r *Runner) sizeOf(c Contestant) (Figure, error) {
	if _, err := r.fillAndClose(c, 100); err != nil {
		return Figure{}, err
	}
	if err := r.server.flush(); err != nil {
		return Figure{}, err
	}
	before, err := r.settled()
	if err != nil {
		return Figure{}, err
	}
	e, err := r.fillAndClose(c, sizedKeys)
	if err != nil {
		return Figure{}, err
	}
	after, err := r.settled()
	if err != nil {
		return Figure{}, err
	}
	usage, names, err := r.usage()
	if err != nil {
		return Figure{}, err
	}
	f, n := r.figure(e, allAdmitted), float64(max(e.tally.total(), 1))
	f.Value = float64(after-before) / n
	f.Cells = []string{number(float64(usage)/n, true), number(float64(names)/n, true)}
	return f, nil
}

// fillAndClose asks once for each of n keys.
func (r *Runner) fillAndClose(c Contestant, n int) (*entrant, error) {
	l, err := c.Open(r.server.env(0), roomy)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	e := &entrant{Contestant: c, limiter: l}
	e.tally = load{callers: sizedCallers, keys: makeKeys(n)}.forEntrant(e).fill(l, sizedTime)
	return e, nil
}

// settled is the memory in use once the server has freed its clients and
// finished growing its tables.
func (r *Runner) settled() (int64, error) {
	var last int64
	for range 50 {
		s, err := r.server.stats()
		if err != nil {
			return 0, err
		}
		if d := s.memory - last; d > -1024 && d < 1024 {
			break
		}
		last = s.memory
		time.Sleep(50 * time.Millisecond)
	}
	return last, nil
}

// usage sums MEMORY USAGE over all keys of the first database.
func (r *Runner) usage() (bytes int64, names int, err error) {
	ctx := context.Background()
	for cursor := uint64(0); ; {
		keys, next, err := r.server.admin.Scan(ctx, cursor, "*", 1_000).Result()
		if err != nil {
			return 0, 0, err
		}
		cmds, err := r.server.admin.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for _, key := range keys {
				p.MemoryUsage(ctx, key)
			}
			return nil
		})
		if err != nil && len(keys) > 0 {
			return 0, 0, err
		}
		for _, cmd := range cmds {
			bytes += cmd.(*goredis.IntCmd).Val()
		}
		names += len(keys)
		if cursor = next; cursor == 0 {
			return bytes, names, nil
		}
	}
}
