package accesslog

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Format is a way of writing logs. It is immutable and safe for concurrent use.
type Format interface {
	// Name is what [Lookup] knows it by, or describes it.
	Name() string
	// Parser returns a reader of lines, for one goroutine.
	Parser() Parser
}

// Parser reads lines of one format.
type Parser interface {
	// Parse reads a line without its end into e, which it resets first. Texts of e are
	// parts of line. It allocates no more than some multiple of the line.
	Parse(line string, e *Entry) Reason
}

// headed is a format whose files say by some lines what stands in the others.
type headed interface {
	Format
	// directive returns the format of the lines after this one; ok is false for a line
	// that says nothing about it. first tells the first line of a file.
	directive(line string, first bool) (f Format, ok bool)
}

// named are the formats that have a name and need nothing else.
var named = map[string]func(o Settings) (Format, error){
	"combined":       func(s Settings) (Format, error) { return combined{s.Zone}, nil },
	"common":         func(s Settings) (Format, error) { return combined{s.Zone}, nil },
	"w3c":            newW3C,
	"iis":            newW3C,
	"cloudfront":     newW3C,
	"alb":            newALB,
	"csv":            func(s Settings) (Format, error) { return newCSV(',', s) },
	"tsv":            func(s Settings) (Format, error) { return newCSV('\t', s) },
	"json":           func(s Settings) (Format, error) { return newJSON("json", anyJSON(), s) },
	"json-nginx":     preset("json-nginx", nginxFields),
	"json-envoy":     preset("json-envoy", envoyFields),
	"json-caddy":     preset("json-caddy", caddyFields),
	"json-traefik":   preset("json-traefik", traefikFields),
	"sluice":         preset("sluice", sluiceFields),
	"sluice-text":    newDecisionText,
	"sluice-gateway": preset("sluice-gateway", gatewayFields),
}

// Settings are what formats that do not tell everything themselves have to be told.
type Settings struct {
	// Fields says which column or JSON field means what, over what the format knows:
	// {"ip": "client.address", "time": "ts", "header:X-Api-Key": "key"}. See [Meanings].
	Fields map[string]string

	// Zone is where stamps without a zone are from; nil means UTC. Of the hour that
	// comes twice when summer ends, the first is meant.
	Zone *time.Location
}

// Lookup returns a format by its name (see [Names]), or a log_format of nginx, which is
// a text with variables: `$remote_addr [$time_iso8601] "$request" $status`.
func Lookup(name string, s Settings) (Format, error) {
	if strings.Contains(name, "$") {
		return NginxFormat(name, s)
	}
	make, ok := named[name]
	if !ok {
		return nil, fmt.Errorf("accesslog: unknown format %q: use one of %s, or a log_format of nginx such as '$remote_addr [$time_local] \"$request\" $status'",
			name, strings.Join(Names(), ", "))
	}
	return make(s)
}

// Names returns the names of all formats.
func Names() []string {
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
