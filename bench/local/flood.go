package local

import (
	"fmt"
	"math/bits"
	"runtime"
	"time"
	"unsafe"
)

// The flood: a store with a cap meets many times as many keys as it can hold,
// while a few drained keys are asked now and then.
const (
	floodCap     = 256 << 20
	floodKeys    = 50_000_000
	floodPlanted = 1_000
	// plantedEvery is the number of new keys between two questions about a
	// planted one; each of them is asked once in plantedEvery*floodPlanted.
	plantedEvery = 1_000
)

// floodQuota keeps a key in deficit for minutes after one request.
var floodQuota = Quota{Count: 10, Period: time.Hour, Burst: 10}

// flooded is what a flood did.
type flooded struct {
	times    histogram
	admitted int // planted keys that were admitted again on the way
	denied   int // planted keys that are denied at the end
	heap     int64
	peak     int64
	noise    time.Duration
	onCPU    time.Duration // slowest decision without the time off the processor
}

// flood runs the flood against the library's store.
func (r *Runner) flood() {
	limit, n := int64(floodCap), floodKeys
	if r.cfg.Quick {
		limit, n = 16<<20, 2_000_000
	}
	r.say("flood: %s keys against %d MiB", human(n), limit>>20)
	peakKnown := resetPeak()
	heap := liveHeap()
	rss, _ := resident()
	decide := oursCapped(floodQuota, limit)
	f := runFlood(decide, n, r.say)
	f.heap = liveHeap() - heap
	_, peak := resident()
	f.peak = peak - rss
	runtime.KeepAlive(decide)
	f.noise = clockNoise(3 * time.Second)
	r.add(f.result(n, limit, peakKnown))
}

func (f *flooded) result(n int, limit int64, peakKnown bool) Result {
	mib := func(b int64) float64 { return float64(b) / (1 << 20) }
	peak := fmt.Sprintf("%.1f", mib(f.peak))
	if !peakKnown {
		peak = "-"
	}
	return Result{
		Case: "flood", Title: fmt.Sprintf("%s distinct keys, live heap against the cap", human(n)), Unit: "MiB",
		Figures: []Figure{
			{Name: oursPlain, Kind: Ours, Value: mib(f.heap), Exact: f.denied == floodPlanted},
			{Name: "cap", Kind: Floor, Value: mib(limit), Exact: true},
		},
		Extra: []Field{
			{"peak_rss_mib", peak},
			{"mean_ns", fmt.Sprintf("%.0f", f.times.mean())},
			{"p99.9999_us", micros(f.times.quantile(0.999999))},
			{"slowest_us", micros(f.times.max)},
			{"slowest_on_cpu_us", micros(f.onCPU)},
			{"slowest_clock_only_us", micros(f.noise)},
			{"planted_denied", fmt.Sprintf("%d/%d", f.denied, floodPlanted)},
			{"planted_admitted_on_the_way", fmt.Sprint(f.admitted)},
		},
	}
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }

// runFlood plants drained keys, then sends n others. A decision's time is the
// distance of two clock reads, so it holds one clock read besides.
//
// A machine with other work takes the processor away now and then. So the
// thread's own time is read once per batch, and what the slowest decision of a
// batch loses with it is the time in which the thread did not run.
//
// All keys of the flood are written into the same bytes, so that the harness
// leaves no garbage to be mistaken for the store's. decide must not keep them.
func runFlood(decide func(string) bool, n int, say func(string, ...any)) *flooded {
	f := &flooded{}
	planted := keySpan(1<<40, floodPlanted)
	for i := range floodPlanted {
		key := planted[i*KeyLen : (i+1)*KeyLen]
		for decide(key) {
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, 0, plantedEvery*KeyLen)
	for from := 0; from < n; from += plantedEvery {
		buf = buf[:0]
		for i := range plantedEvery {
			buf = appendKey(buf, uint64(from+i))
		}
		f.send(decide, unsafe.String(&buf[0], len(buf)))
		i := from / plantedEvery % floodPlanted
		if decide(planted[i*KeyLen : (i+1)*KeyLen]) {
			f.admitted++
		}
		if from > 0 && from%10_000_000 == 0 {
			say("flood: %s of %s", human(from), human(n))
		}
	}
	for i := range floodPlanted {
		if !decide(planted[i*KeyLen : (i+1)*KeyLen]) {
			f.denied++
		}
	}
	return f
}

// send times the decisions of one batch.
func (f *flooded) send(decide func(string) bool, batch string) {
	base := time.Now()
	ran := threadTime()
	var last, slowest time.Duration
	for ; len(batch) > 0; batch = batch[KeyLen:] {
		decide(batch[:KeyLen])
		now := time.Since(base)
		f.times.add(now - last)
		slowest = max(slowest, now-last)
		last = now
	}
	off := last - (threadTime() - ran)
	f.onCPU = max(f.onCPU, slowest-max(off, 0))
}

// clockNoise is the longest distance of two neighbouring clock reads in d: the
// pauses that the machine makes without any limiter.
func clockNoise(d time.Duration) (worst time.Duration) {
	runtime.GC()
	base := time.Now()
	last := time.Since(base)
	for last < d {
		now := time.Since(base)
		worst = max(worst, now-last)
		last = now
	}
	return worst
}

// histogram counts durations in steps of an eighth of a power of two.
type histogram struct {
	counts [64 * 8]int64
	n      int64
	sum    time.Duration
	max    time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 1))
	e := bits.Len64(v) - 1
	return e*8 + int(v<<(63-e)>>60&7)
}

// upper is the end of a bucket.
func upper(bucket int) time.Duration {
	e, part := bucket/8, bucket%8
	return time.Duration((1 << e) + (1<<e)*(part+1)/8)
}

func (h *histogram) mean() float64 {
	if h.n == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.n)
}

// quantile is an upper bound of the given quantile, at most an eighth too
// high.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int64(q * float64(h.n))
	for b, c := range h.counts {
		if rank -= c; rank < 0 {
			return min(upper(b), h.max)
		}
	}
	return h.max
}
