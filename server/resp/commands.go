package resp

import (
	"context"
	"fmt"
	"strings"
)

// command is something that a client can ask for.
type command struct {
	name        string // in lower case
	least, most int    // arguments with the name; most of -1 is any number
	open        bool   // also for who has not said AUTH
	alone       bool   // never at the same time as another of the pipeline

	// One of these answers. A decision depends on nothing but its arguments, so that
	// several can be made at the same time, unless it has to be alone.
	decide func(ctx context.Context, d *desk)
	answer func(s *session, d *desk)
}

// commands are all that there are.
func commands() []command {
	return []command{
		{name: "cl.throttle", least: 1, most: -1, decide: throttle}, // it has its own words for what is missing
		{name: "sluice.check", least: 2, most: -1, decide: check},
		{name: "sluice.peek", least: 2, most: -1, decide: peek},
		{name: "sluice.reset", least: 2, most: -1, decide: reset, alone: true},
		{name: "ping", least: 1, most: 2, open: true, answer: ping},
		{name: "echo", least: 2, most: 2, answer: echo},
		{name: "hello", least: 1, most: -1, open: true, answer: hello},
		{name: "auth", least: 2, most: 3, open: true, answer: auth},
		{name: "quit", least: 1, most: -1, open: true, answer: quit},
		{name: "client", least: 2, most: -1, answer: client},
		{name: "select", least: 2, most: 2, answer: selectDatabase},
		{name: "command", least: 1, most: -1, answer: describeCommands},
		{name: "info", least: 1, most: -1, answer: info},
	}
}

// longestName is the length of the longest name of a command.
const longestName = len("sluice.check")

// find returns the command of a name in any case, or nil.
func (d *Door) find(name []byte) *command {
	var lower [longestName]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	for i := range d.commands { // few, the busiest first
		if c := &d.commands[i]; c.name == string(lower[:len(name)]) {
			return c
		}
	}
	return nil
}

// fits reports whether a command can have so many arguments.
func (c *command) fits(n int) bool { return n >= c.least && (c.most < 0 || n <= c.most) }

func (d *desk) unknown() {
	d.fail("ERR unknown command '" + shown(d.args[0]) + "'; this is sluice, which knows CL.THROTTLE, SLUICE.CHECK, SLUICE.PEEK, SLUICE.RESET and what a client needs to connect")
}

func (d *desk) wrongNumber(name string) {
	d.fail("ERR wrong number of arguments for '" + name + "' command")
}

func ping(_ *session, d *desk) {
	if len(d.args) == 2 {
		d.bytes(d.args[1])
		return
	}
	d.status("PONG")
}

func echo(_ *session, d *desk) { d.bytes(d.args[1]) }

func quit(s *session, d *desk) {
	d.ok()
	s.over = true
}

// selectDatabase is for clients that choose a database when they connect: there is one.
func selectDatabase(_ *session, d *desk) {
	if n, ok := parseNumber(d.args[1]); !ok {
		d.fail("ERR value is not an integer or out of range")
	} else if n != 0 {
		d.fail("ERR DB index is out of range; there is only 0")
	} else {
		d.ok()
	}
}

// describeCommands answers COMMAND, from which clients learn where keys stand.
func describeCommands(s *session, d *desk) {
	if len(d.args) == 1 {
		d.array(len(s.door.commands))
		for i := range s.door.commands {
			d.describe(&s.door.commands[i])
		}
		return
	}
	switch strings.ToLower(shown(d.args[1])) {
	case "docs":
		d.fields(0)
	case "count":
		d.integer(int64(len(s.door.commands)))
	case "info":
		d.array(len(d.args) - 2)
		for _, name := range d.args[2:] {
			if c := s.door.find(name); c != nil {
				d.describe(c)
			} else {
				d.null()
			}
		}
	default:
		d.subcommand("COMMAND")
	}
}

// describe tells name, arity, flags and the places of the keys.
func (d *desk) describe(c *command) {
	arity, key := int64(c.least), int64(0)
	if c.most != c.least {
		arity = -arity
	}
	if c.decide != nil {
		key = 1
	}
	d.array(6)
	d.text(c.name)
	d.integer(arity)
	d.array(0)
	for range 3 { // the first key, the last one, and the steps between them
		d.integer(key)
	}
}

func (d *desk) subcommand(of string) {
	d.fail("ERR unknown subcommand '" + shown(d.args[1]) + "' of " + of)
}

// info tells what clients look for when they connect.
func info(s *session, d *desk) {
	d.text(fmt.Sprintf("# Server\r\nredis_version:%s\r\nserver_name:sluice\r\nsluice_version:%s\r\nredis_mode:standalone\r\n\r\n"+
		"# Clients\r\nconnected_clients:%d\r\nmaxclients:%d\r\n\r\n# Persistence\r\nloading:0\r\n\r\n# Replication\r\nrole:master\r\n",
		redisVersion, s.door.options.Version, s.door.connections.open(), s.door.options.Connections))
}
