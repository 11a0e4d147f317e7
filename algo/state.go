package algo

// State is what a limit remembers of one key. Zero is a key never seen.
//
// T means the same for every algorithm: once now > T, the state is as good as
// zero. What the other fields hold, each algorithm says in its own file.
type State struct {
	T     int64
	F     int64
	G     int64
	Ahead bool // a bucket only: something was booked beyond the capacity, by waiting or by debt
	More  []int64
}
