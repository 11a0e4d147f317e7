package topkeys

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestZipf is the bar: of ten million requests by a million keys, whose frequencies
// follow zipf's law with 1.1, at least 19 of the true top 20 are found, also if only
// one in 32 is looked at.
func TestZipf(t *testing.T) {
	requests := 10_000_000
	if raceDetector {
		requests /= 10
	}
	const seed = 20 // fixed: chance decides who is last of 20
	for _, k := range []int{1, 32} {
		r := rand.New(rand.NewPCG(seed, 2))
		zipf := rand.NewZipf(r, 1.1, 1, 1_000_000-1)
		truth := make([]uint64, 1_000_000)
		table := New(4, time.Minute)
		sampler := NewSampler(k, time.Minute, seed)
		for i := range requests {
			key := zipf.Uint64()
			truth[key]++
			if k == 1 {
				table.Add(uint32(i), 0, "rule", strconv.FormatUint(key, 10), 1)
			} else if sampler.Due() {
				table.Add(uint32(i), 0, "rule", strconv.FormatUint(key, 10), sampler.Take(0))
			}
		}
		judge(t, truth, table.Top(0, 20), k, raceDetector)
	}
}

// judge compares a top 20 with the truth. Small runs have too few requests to tell the
// last of the top from the next, so there only the bound counts.
func judge(t *testing.T, truth []uint64, top []Item, k int, small bool) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(truth))
	last := sorted[len(sorted)-20]
	found := 0
	for _, item := range top {
		key, _ := strconv.Atoi(item.Key)
		if truth[key] >= last {
			found++
		}
		off := uint64(0)
		if item.Sampled {
			off = Deviation(k, item.Count)
		}
		if n := truth[key]; n+item.Error+off < item.Count || n > item.Count+off {
			t.Errorf("one in %d: key %d was there %d times, not %d − %d ± %d", k, key, n, item.Count, item.Error, off)
		}
	}
	t.Logf("one in %d: %d of the top 20", k, found)
	if found < 19 && !small {
		t.Errorf("one in %d: only %d of the top 20", k, found)
	}
}

// TestSamplerIsFair: the weights add up to the number of requests, whatever rhythm
// they have.
func TestSamplerIsFair(t *testing.T) {
	const requests = 300_000
	for _, k := range []int{2, 32} {
		for _, rhythm := range []int{1, 2, 32, 100} {
			s := NewSampler(k, time.Minute, uint64(rhythm))
			var seen [100]uint64
			for i := range requests {
				if s.Due() {
					seen[i%rhythm] += s.Take(0)
				}
			}
			want := requests / float64(rhythm)
			for i := range rhythm {
				if off := math.Abs(float64(seen[i]) - want); off > float64(Deviation(k, uint64(want))) {
					t.Errorf("one in %d, every %d: beat %d was seen %d times, want about %v", k, rhythm, i, seen[i], want)
				}
			}
		}
	}
}

// TestSamplerIsFullFirst: in every window the first ones are all picked, and after
// them about one in k.
func TestSamplerIsFullFirst(t *testing.T) {
	s := NewSampler(16, time.Minute, 1)
	for window := range int64(3) {
		picked, sum := 0, uint64(0)
		for range 10 * Full {
			if s.Due() {
				picked++
				sum += s.Take(window * minute)
			}
		}
		// The new window is noticed by the first that is picked.
		if want := Full + 9*Full/16; picked < want*9/10 || picked > want*11/10 {
			t.Errorf("window %d: %d picked, want about %d", window, picked, want)
		}
		if sum < 10*Full*9/10 || sum > 10*Full*11/10 {
			t.Errorf("window %d: the weights add up to %d, want about %d", window, sum, 10*Full)
		}
	}
}

// TestDeviation: nearly every sampled count is as near to the truth as it says.
func TestDeviation(t *testing.T) {
	const k, runs = 16, 20_000
	for _, truth := range []int{1, 10, 100, 1000} {
		s := NewSampler(k, time.Minute, uint64(truth))
		s.full = 0
		bad := 0
		for range runs {
			var count uint64
			for range truth {
				if s.Due() {
					count += s.Take(0)
				}
			}
			if math.Abs(float64(count)-float64(truth)) > float64(Deviation(k, count)) {
				bad++
			}
		}
		if bad > runs/2000 {
			t.Errorf("%d of %d samples of %d are further off", bad, runs, truth)
		}
	}
}

func BenchmarkSampler(b *testing.B) {
	s := NewSampler(16, time.Minute, 1)
	for b.Loop() {
		if s.Due() {
			s.Take(0)
		}
	}
}
