package topkeys

// Counters is how many counters a stripe of a Table has for one window.
const Counters = 512

const (
	ways    = 8 // counters of a bucket
	buckets = Counters / ways
)

// KeyBytes is how much of a key's text is kept. Longer keys are still told apart.
const KeyBytes = 78

// summary is the counters of one window. It has one owner at a time.
type summary struct {
	sampled bool             // something was added with a weight
	hashes  [Counters]uint64 // 0 means free; the buckets lie one after the other
	tallies [Counters]tally
	texts   [Counters]text
}

// tally says that a key was added at most count times and at least count − excess.
type tally struct{ count, excess uint64 }

// text is what a counter's key looks like. It holds no memory of the caller but the
// label, which lives longer than any request.
type text struct {
	label string
	size  uint8
	cut   bool
	key   [KeyBytes]byte
}

func (t *text) set(label, key string) {
	t.label, t.size, t.cut = label, uint8(copy(t.key[:], key)), len(key) > KeyBytes
}

// add counts a key weight times. The texts are read only if the key had no counter.
func (s *summary) add(hash, weight uint64, label, key string) {
	s.sampled = s.sampled || weight > 1
	at := first(hash)
	bucket := s.hashes[at : at+ways : at+ways]
	for i, h := range bucket {
		if h == hash {
			s.tallies[at+i].count += weight
			return
		}
	}
	at += s.least(at)
	count := s.tallies[at].count
	s.hashes[at] = hash
	s.tallies[at] = tally{count + weight, count}
	s.texts[at].set(label, key)
}

// tally returns what is known about a key. One without a counter was added at most
// as often as the least of its bucket says.
func (s *summary) tally(hash uint64) tally {
	at := first(hash)
	for i, h := range s.hashes[at : at+ways] {
		if h == hash {
			return s.tallies[at+i]
		}
	}
	count := s.tallies[at+s.least(at)].count
	return tally{count, count}
}

// least returns which counter of the bucket at has the least count. A free one has 0.
func (s *summary) least(at int) int {
	bucket := s.tallies[at : at+ways : at+ways]
	low := 0
	for i := range bucket {
		if bucket[i].count < bucket[low].count {
			low = i
		}
	}
	return low
}

// clear forgets everything. Texts of free counters are never looked at.
func (s *summary) clear() {
	s.sampled = false
	clear(s.hashes[:])
	clear(s.tallies[:])
}

// first returns where the bucket of a hash begins.
func first(hash uint64) int { return int(hash>>32%buckets) * ways }
