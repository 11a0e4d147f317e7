package resp

import "strconv"

// lineup is a case: commands that are measured together. The first is what the others are
// compared with.
type lineup struct {
	name     string
	says     string
	pipeline int
	keys     int // of how many one is drawn at random; 0: always the same
	entrants []entrant
}

// entrant is one command at one of the servers.
type entrant struct {
	name    string
	at      place
	command []string

	rates []float64 // requests per second, of each round
}

// place is who answers.
type place int

const (
	sluice place = iota
	redisServer
	constant // see serveConstant
	places
)

// rules never refuse.
const rules = `rules:
  - name: api
    match: {attributes: {kind: api}}
    key: [user]
    limits: [100000000/s]
`

// lineups are all cases: with and without a pipeline, on one key and on many.
func lineups() []lineup {
	var all []lineup
	for _, pipeline := range []int{1, 16} {
		p := strconv.Itoa(pipeline)
		all = append(all,
			lineup{"resp-one-p" + p, "50 connections, " + p + " requests at a time, one key.", pipeline, 0, entrants("one")},
			lineup{"resp-100k-p" + p, "50 connections, " + p + " requests at a time, 100,000 keys drawn at random.", pipeline, 100_000, entrants("__rand_int__")})
	}
	return all
}

func entrants(key string) []entrant {
	check := []string{"SLUICE.CHECK", "api", "user=" + key}
	return []entrant{
		{name: "redis-server INCR", at: redisServer, command: []string{"INCR", "k:" + key}},
		{name: "sluice CL.THROTTLE", command: []string{"CL.THROTTLE", "a:" + key, "1000000000", "100000000", "1"}},
		{name: "sluice CL.THROTTLE, denied", command: []string{"CL.THROTTLE", "d:" + key, "0", "1", "1000000"}},
		{name: "sluice SLUICE.CHECK", command: check},
		{name: "the answer of SLUICE.CHECK, undecided", at: constant, command: check},
		{name: "redis-server LRANGE of as many values", at: redisServer, command: []string{"LRANGE", "said", "0", "-1"}},
	}
}
