package replay

import "strings"

// robots are words by which programs that read the web say so, in lower case.
var robots = []string{
	"bot", "crawl", "spider", "slurp", "archiver", "monitor", "scan", "headless", "phantomjs", "scrapy",
	"curl/", "wget/", "python-", "go-http-client", "libwww", "okhttp",
}

// LooksGood reports whether an agent may be somebody's whom nobody wants to refuse: it
// is there, and does not say that it is a robot. So are browsers, and programs of
// partners. Anybody can send anything: it is a hint, no proof.
func LooksGood(agent string) bool {
	if agent == "" {
		return false
	}
	lower := strings.ToLower(agent)
	for _, word := range robots {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

// agents numbers the agents of refused requests, and remembers which look good.
type agents struct {
	numbers map[string]uint32
	list    []agentNote
}

type agentNote struct {
	text string
	good bool
}

const (
	maxAgents    = 1 << 14
	maxAgentText = 300
)

// number returns the number of an agent. When there are too many, the others share 0.
func (a *agents) number(agent string) uint32 {
	if n, ok := a.numbers[agent]; ok {
		return n
	}
	if a.numbers == nil {
		a.numbers = map[string]uint32{}
		a.list = []agentNote{{text: "(one of many)"}}
	}
	if len(a.list) >= maxAgents {
		return 0
	}
	n := uint32(len(a.list))
	a.list = append(a.list, agentNote{strings.Clone(agent[:min(len(agent), maxAgentText)]), LooksGood(agent)})
	a.numbers[strings.Clone(agent)] = n
	return n
}

// good reports whether an agent looks good, whose number may be 0.
func (a *agents) good(number uint32, agent string) bool {
	if number == 0 {
		return LooksGood(agent)
	}
	return a.list[number].good
}

func (a *agents) text(number uint32) string {
	if int(number) >= len(a.list) {
		return ""
	}
	return a.list[number].text
}
