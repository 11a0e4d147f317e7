package accesslog

import (
	"fmt"
	"net/url"
	"sort"
	"strings"
	"time"
)

// meaning is what a field of a log is about.
type meaning uint8

const (
	isNothing meaning = iota
	isTime
	isDate  // of two fields, one with the day
	isClock // and one with the time of day
	isIP
	isForwarded // a list of addresses, of which the first is the client's
	isUser
	isVerb
	isHost
	isPath
	isTarget // path and query, or a whole URL
	isQuery
	isRequest // a request line
	isStatus
	isBytes
	isLength
	isAgent
	isEncodedAgent // with %20 or + instead of spaces
	isSeconds
	isMillis
	isNanos
	isTaken // milliseconds, or seconds if there is a point
	isCost
	isKey
	isKind // of the line; only those about decisions count
	isMore // goes to Entry.More
	meanings
)

// meaningNames are what people write in Settings.Fields.
var meaningNames = map[string]meaning{
	"time": isTime, "date": isDate, "clock": isClock, "ip": isIP, "forwarded": isForwarded, "user": isUser,
	"method": isVerb, "host": isHost, "path": isPath, "uri": isTarget, "query": isQuery, "request": isRequest,
	"status": isStatus, "bytes": isBytes, "length": isLength, "agent": isAgent, "duration": isSeconds,
	"duration_ms": isMillis, "duration_ns": isNanos, "cost": isCost, "key": isKey,
}

// Meanings returns the names by which Settings.Fields says what a field is about;
// header:NAME, cookie:NAME and attribute:NAME come on top.
func Meanings() []string {
	names := make([]string, 0, len(meaningNames))
	for name := range meaningNames {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// slot says where a field goes.
type slot struct {
	meaning meaning
	name    string // of isMore
	rank    uint8  // of several fields with one meaning the highest counts
}

// slots are where fields go, by their name in the log.
type slots map[string]slot

// with returns the slots with what the settings say over them.
func (s slots) with(fields map[string]string) (slots, error) {
	all := make(slots, len(s)+len(fields))
	for field, to := range s {
		all[field] = to
	}
	meant := make(map[string]string, len(fields))
	for name, field := range fields {
		to, err := slotOf(name)
		if err != nil {
			return nil, err
		}
		if other, twice := meant[field]; twice {
			return nil, fmt.Errorf("accesslog: the field %q cannot mean both %s and %s", field, min(name, other), max(name, other))
		}
		to.rank = 255
		all[field], meant[field] = to, name
	}
	return all, nil
}

func slotOf(name string) (slot, error) {
	for _, prefix := range []string{headerPrefix, cookiePrefix, attributePrefix} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return slot{meaning: isMore, name: name}, nil
		}
	}
	m, ok := meaningNames[name]
	if !ok {
		return slot{}, fmt.Errorf("accesslog: a field cannot mean %q: use one of %s, header:NAME, cookie:NAME, attribute:NAME",
			name, strings.Join(Meanings(), ", "))
	}
	return slot{meaning: m}, nil
}

// setter puts fields into an entry.
type setter struct {
	stamps stampCache
	zone   *time.Location
	ranks  [meanings]uint8
	date   string
	clock  string
	joined []byte // both
	timed  bool
	other  bool
}

// begin forgets the line before.
func (s *setter) begin(e *Entry) {
	e.reset()
	s.ranks = [meanings]uint8{}
	s.date, s.clock, s.timed, s.other = "", "", false, false
}

// set puts one field into its slot.
func (s *setter) set(e *Entry, to slot, value string) Reason {
	if value == "-" || value == "" || to.meaning == isNothing {
		return ""
	}
	rank := &s.ranks[to.meaning]
	if to.meaning == isForwarded {
		rank = &s.ranks[isIP] // both tell the client
	}
	if *rank > to.rank {
		return ""
	}
	switch to.meaning {
	case isTime, isDate, isClock:
		*rank = to.rank
		return s.setTime(e, to.meaning, value)
	case isIP, isForwarded:
		return setIP(e, to, value, rank)
	case isStatus, isBytes, isLength, isCost, isSeconds, isMillis, isNanos, isTaken:
		if !setNumber(e, to.meaning, value) {
			return BadNumber
		}
	case isKind:
		s.other = value != "decision"
	case isMore:
		e.More = append(e.More, Field{to.name, value})
		return "" // any number of them
	default:
		setText(e, to.meaning, value)
	}
	*rank = to.rank
	return ""
}

func (s *setter) setTime(e *Entry, m meaning, value string) (r Reason) {
	switch m {
	case isDate:
		s.date = value
	case isClock:
		s.clock = value
	default:
		if e.Time, e.Coarse, s.timed = s.stamps.any(value, s.zone); !s.timed {
			return BadTime
		}
	}
	return ""
}

// end tells whether the line was an entry.
func (s *setter) end(e *Entry) Reason {
	if s.other {
		return Other
	}
	if !s.timed && s.date != "" && s.clock != "" {
		s.joined = append(append(append(s.joined[:0], s.date...), ' '), s.clock...)
		if e.Time, e.Coarse, s.timed = s.stamps.any(textOf(s.joined), s.zone); !s.timed {
			return BadTime
		}
	}
	if !s.timed {
		return NoTime
	}
	return ""
}

// setIP reads the client's address. A list of forwarders that cannot be read leaves the
// place to other fields.
func setIP(e *Entry, to slot, value string, rank *uint8) Reason {
	if to.meaning == isForwarded {
		value, _, _ = strings.Cut(value, ",")
		value = strings.TrimSpace(value)
	}
	ip, ok := parseAddr(value)
	switch {
	case ok:
		e.IP, *rank = ip, to.rank
	case to.meaning == isForwarded: // what a client made up
	case plausibleHost(value):
		e.More = append(e.More, Field{"attribute:client", value})
	default:
		return BadIP
	}
	return ""
}

func setText(e *Entry, m meaning, value string) {
	switch m {
	case isUser:
		e.User = value
	case isVerb:
		e.Method = value
	case isHost:
		e.Host = value
	case isPath:
		e.Path = value
	case isTarget:
		setTarget(e, value)
	case isQuery:
		e.Query = strings.TrimPrefix(value, "?")
	case isRequest:
		setRequest(e, value)
	case isAgent:
		e.Agent = value
	case isEncodedAgent:
		e.Agent = decoded(value)
	case isKey:
		e.Key = value
		for part := range strings.SplitSeq(value, "|") {
			if ip, ok := parseAddr(part); ok {
				e.IP = ip
			}
		}
	}
}

// decoded undoes the escapes of an agent; one that is broken stays as it is.
func decoded(value string) string {
	if !strings.ContainsAny(value, "%+") {
		return value
	}
	plain, err := url.QueryUnescape(value)
	if err != nil {
		return value
	}
	return plain
}

func setNumber(e *Entry, m meaning, value string) (ok bool) {
	switch m {
	case isStatus:
		e.Status, ok = smallNumber(value)
	case isBytes:
		e.Bytes, ok = number(value)
	case isLength:
		e.Length, ok = number(value)
	case isCost:
		e.Cost, ok = number(value)
	default:
		e.Duration, ok = duration(m, value)
	}
	return ok
}

func duration(m meaning, value string) (time.Duration, bool) {
	if m == isTaken && !strings.Contains(value, ".") {
		m = isMillis
	}
	if last := value[len(value)-1]; last == 's' || last == 'h' || last == 'm' {
		d, err := time.ParseDuration(value)
		return d, err == nil
	}
	d, ok := seconds(value)
	switch m {
	case isMillis:
		d /= 1000
	case isNanos:
		n, ok := number(value)
		return time.Duration(n), ok
	}
	return d, ok
}
