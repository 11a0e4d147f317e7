package resp

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

const unknownFoo = "-ERR unknown command 'foo'; this is sluice, which knows CL.THROTTLE, SLUICE.CHECK, SLUICE.PEEK, SLUICE.RESET and what a client needs to connect\r\n"

// TestCommands: what every command answers, and every error by its text.
func TestCommands(t *testing.T) {
	door := newDoor(t, nil)
	for line, want := range map[string]string{
		"PING":                      "+PONG\r\n",
		"ping hello":                "$5\r\nhello\r\n",
		"PING a b":                  "-ERR wrong number of arguments for 'ping' command\r\n",
		`ECHO "a\r\nb"`:             "$4\r\na\r\nb\r\n",
		"ECHO":                      "-ERR wrong number of arguments for 'echo' command\r\n",
		"SELECT 0":                  "+OK\r\n",
		"SELECT 1":                  "-ERR DB index is out of range; there is only 0\r\n",
		"SELECT x":                  "-ERR value is not an integer or out of range\r\n",
		"AUTH secret":               "-" + noPasswords + "\r\n",
		"CLIENT SETNAME me":         "+OK\r\n",
		`CLIENT SETNAME "m e"`:      "-" + badName + "\r\n",
		"CLIENT GETNAME":            "$-1\r\n",
		"CLIENT SETINFO LIB-NAME x": "+OK\r\n",
		"CLIENT SETINFO LIB-NAME":   "-ERR wrong number of arguments for 'client|setinfo' command\r\n",
		"CLIENT KILL":               "-ERR unknown subcommand 'KILL' of CLIENT\r\n",
		"CLIENT":                    "-ERR wrong number of arguments for 'client' command\r\n",
		"COMMAND DOCS":              "*0\r\n",
		"COMMAND COUNT":             ":13\r\n",
		"COMMAND INFO ping foo":     "*2\r\n*6\r\n$4\r\nping\r\n:-1\r\n*0\r\n:0\r\n:0\r\n:0\r\n$-1\r\n",
		"COMMAND INFO SLUICE.CHECK": "*1\r\n*6\r\n$12\r\nsluice.check\r\n:-2\r\n*0\r\n:1\r\n:1\r\n:1\r\n",
		"COMMAND LIST":              "-ERR unknown subcommand 'LIST' of COMMAND\r\n",
		"foo":                       unknownFoo,
		`"f\r\n+OK\x00\xff"`:        strings.Replace(unknownFoo, "foo", "f??+OK??", 1),
		strings.Repeat("y", 100):    strings.Replace(unknownFoo, "foo", strings.Repeat("y", 64)+"...", 1),
		"HELLO 4":                   "-NOPROTO unsupported protocol version\r\n",
		"HELLO x":                   "-ERR Protocol version is not an integer or out of range\r\n",
		"HELLO 2 FOO":               "-ERR Syntax error in HELLO option 'FOO'\r\n",
		"HELLO 2 AUTH a":            "-ERR Syntax error in HELLO option 'AUTH'\r\n",
		`HELLO 2 SETNAME "a b"`:     "-" + badName + "\r\n",
		"":                          "",
	} {
		if got := say(t, door, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestHello: HELLO says who is here, and how answers look from then on.
func TestHello(t *testing.T) {
	door := newDoor(t, nil)
	fields := "$6\r\nserver\r\n$6\r\nsluice\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:P\r\n$2\r\nid\r\n:N\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"
	two, three := "*14\r\n"+strings.Replace(fields, "P", "2", 1), "%7\r\n"+strings.Replace(fields, "P", "3", 1)
	number := func(s, id string) string { return strings.Replace(s, "N", id, 1) }
	if got, want := say(t, door, "HELLO"), number(two, "1"); got != want {
		t.Errorf("HELLO: %q, want %q", got, want)
	}
	got := say(t, door, "HELLO 3 SETNAME me\r\nCLIENT GETNAME\r\nCLIENT ID\r\nHELLO\r\nCOMMAND DOCS\r\nHELLO 2")
	if want := number(three, "2") + "$2\r\nme\r\n:2\r\n" + number(three, "2") + "%0\r\n" + number(two, "2"); got != want {
		t.Errorf("HELLO 3: %q, want %q", got, want)
	}
	if got := say(t, door, "HELLO 3\r\nCLIENT GETNAME"); !strings.HasSuffix(got, "_\r\n") {
		t.Errorf("no name in RESP3: %q", got)
	}
}

// TestInfo: clients look for these lines.
func TestInfo(t *testing.T) {
	got := say(t, newDoor(t, nil), "INFO server")
	for _, want := range []string{"redis_version:7.0.0\r\n", "sluice_version:v1.2.3\r\n", "loading:0\r\n", "role:master\r\n", "connected_clients:1\r\n", "maxclients:10000\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

// TestAuth: without a token nothing is told but how to show one.
func TestAuth(t *testing.T) {
	door := newDoor(t, func(o *Options) { o.Tokens = [][sha256.Size]byte{hashed("first token"), hashed("other token")} })
	no, greeting := "-"+needsAuth+"\r\n", "*14\r\n"
	for lines, want := range map[string]string{
		"CL.THROTTLE k 1 1 1":               no,
		"SLUICE.RESET login":                no,
		"FOO":                               no,
		"ECHO a":                            no,
		"COMMAND":                           no,
		"PING":                              "+PONG\r\n",
		"HELLO 3":                           "-" + helloAuth + "\r\n",
		"AUTH":                              "-ERR wrong number of arguments for 'auth' command\r\n",
		"AUTH wrong\r\nECHO a":              "-" + wrongPass + "\r\n" + no,
		"HELLO 2 AUTH me wrong":             "-" + wrongPass + "\r\n",
		`AUTH "first token"` + "\r\nECHO a": "+OK\r\n$1\r\na\r\n",
		`AUTH default "other token"` + "\r\nECHO a":   "+OK\r\n$1\r\na\r\n",
		`AUTH "first token"` + "\r\nAUTH x\r\nECHO a": "+OK\r\n-" + wrongPass + "\r\n$1\r\na\r\n",
	} {
		if got := say(t, door, lines); got != want {
			t.Errorf("%s: %q, want %q", lines, got, want)
		}
	}
	if got := say(t, door, `HELLO 2 AUTH default "first token" SETNAME me`); !strings.HasPrefix(got, greeting) {
		t.Errorf("HELLO with a token: %q", got)
	}
	if got, want := say(t, door, "ECHO "+strings.Repeat("x", strangers)), "-ERR Protocol error: request is longer than 1 KiB, before AUTH\r\n"; got != want {
		t.Errorf("a long request of a stranger: %q, want %q", got, want)
	}
	exposed := newDoor(t, func(o *Options) { o.Exposed = true })
	if got := say(t, exposed, "ECHO a"); got != no {
		t.Errorf("an exposed address without tokens: %q, want %q", got, no)
	}
}

// TestTokensChange: a token that holds no more ends what it allowed, at once.
func TestTokensChange(t *testing.T) {
	door := newDoor(t, func(o *Options) { o.Tokens = [][sha256.Size]byte{hashed("old"), hashed("kept")} })
	old, kept := connect(t, door), connect(t, door)
	exchange(t, old, "AUTH old\r\nECHO a\r\n", "+OK\r\n$1\r\na\r\n")
	exchange(t, kept, "AUTH kept\r\nECHO a\r\n", "+OK\r\n$1\r\na\r\n")
	door.SetTokens([][sha256.Size]byte{hashed("new"), hashed("kept")})
	exchange(t, old, "ECHO a\r\n", "-"+needsAuth+"\r\n")
	exchange(t, old, "AUTH new\r\nECHO a\r\n", "+OK\r\n$1\r\na\r\n")
	exchange(t, kept, "ECHO a\r\n", "$1\r\na\r\n")
	door.SetTokens(nil)
	exchange(t, kept, "ECHO a\r\n", "$1\r\na\r\n")
}

const allowedTwo = "*20\r\n$7\r\nallowed\r\n:1\r\n$9\r\nremaining\r\n:R\r\n"

// TestCheck: which requests are made of arguments, and what is answered.
func TestCheck(t *testing.T) {
	door := newDoor(t, nil)
	allowed := func(remaining string) string { return strings.Replace(allowedTwo, "R", remaining, 1) }
	for _, c := range []struct{ lines, want string }{
		{"SLUICE.CHECK login ip=192.0.2.1", allowed("4")},
		{"SLUICE.CHECK login ip=192.0.2.1 COST 3", allowed("1")},
		{"SLUICE.CHECK login ip=192.0.2.1 method=POST path=/login?a=b", allowed("0")},
		{"SLUICE.CHECK login ip=192.0.2.2 cost 5", allowed("0")},
		{"SLUICE.PEEK login ip=192.0.2.3", allowed("4")},
		{"SLUICE.PEEK login ip=192.0.2.3", allowed("4")},
		{"SLUICE.RESET login ip=192.0.2.1", "+OK\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1", allowed("4")},
		{"SLUICE.CHECK tenant plan=gold tenant=7", allowed("2")},
		{"SLUICE.CHECK tenant plan=gold attribute:tenant=7 kind=api", allowed("1")},
		{"SLUICE.CHECK agent user=ann path=/all/1 host=a.example.com", allowed("1")},
		{"SLUICE.CHECK agent user=ann path=/all/2", allowed("0")},
		{"SLUICE.CHECK agent user= path=/all/2", allowed("0")}, // the key is said to be missing: the rule is not asked
		{"SLUICE.CHECK off", allowed("0")},
		{"SLUICE.CHECK exempt ip=10.0.0.1", allowed("0")},
		{"SLUICE.CHECK exempt ip=10.0.0.1 length=-1 query=a user=b", allowed("0")},

		{"SLUICE.CHECK", "-ERR wrong number of arguments for 'sluice.check' command\r\n"},
		{"SLUICE.CHECK nobody", "-ERR no rule is called 'nobody'\r\n"},
		{"SLUICE.CHECK login", "-ERR rule 'login' does not apply: ip is missing, so that the rule does not apply\r\n"},
		{"SLUICE.CHECK login usr=1", "-ERR rule 'login' does not apply: ip is missing, so that the rule does not apply\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 method=GET", "-ERR rule 'login' does not apply: method \"GET\" is not POST\r\n"},
		{"SLUICE.CHECK tenant tenant=7", "-ERR rule 'tenant' does not apply: attribute plan is missing\r\n"},
		{"SLUICE.CHECK exempt only=free", "-ERR rule 'exempt' does not apply: attribute only is \"free\", not \"exempt\"\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 COST 0", "-ERR COST 0 is out of range; give 1 to 1e15, or leave it out for what the rules say\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 COST x", "-ERR COST x is out of range; give 1 to 1e15, or leave it out for what the rules say\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 cost=3", "-ERR cost= is no field; write COST 3 at the end\r\n"},
		{"SLUICE.CHECK login 192.0.2.1", "-ERR '192.0.2.1' is no field; write name=value, and last of all COST n\r\n"},
		{"SLUICE.CHECK login =x", "-ERR '=x' is no field; write name=value, and last of all COST n\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1:80", "-ERR ip=192.0.2.1:80 is no address; give the client's alone, without port or brackets\r\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 ip=192.0.2.2", "-ERR ip is given twice\r\n"},
		{"SLUICE.CHECK login query=a path=/?b", "-ERR query is given twice\r\n"},
		{"SLUICE.CHECK login a=1 attribute:a=2", "-ERR a is given twice\r\n"},
		{"SLUICE.CHECK login header:A=1 header:a=2", "-ERR header:a is given twice\r\n"},
		{"SLUICE.CHECK login header:=1", "-ERR header: has no name; write header:NAME=value\r\n"},
		{"SLUICE.CHECK login attribute:=1", "-ERR attribute: has no name; write attribute:NAME=value, or NAME=value\r\n"},
		{"SLUICE.CHECK login length=-2", "-ERR length=-2 is out of range; give the size of the body in bytes, or -1 if it is not known\r\n"},
	} {
		t.Run(c.lines, func(t *testing.T) {
			got := say(t, door, c.lines)
			if strings.HasPrefix(c.want, "*") && !strings.HasPrefix(got, c.want) || !strings.HasPrefix(c.want, "*") && got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestCheckAnswer: all of an answer, in both versions of the protocol.
func TestCheckAnswer(t *testing.T) {
	door := newDoor(t, nil)
	say(t, door, "SLUICE.CHECK tenant plan=gold tenant=7 COST 3")
	two := "*20\r\n$7\r\nallowed\r\n:0\r\n$9\r\nremaining\r\n:0\r\n$14\r\nretry_after_ms\r\n:"
	if got := say(t, door, "SLUICE.CHECK tenant plan=gold tenant=7"); !strings.HasPrefix(got, two) ||
		!strings.HasSuffix(got, "$7\r\nwait_ms\r\n:0\r\n$6\r\nreason\r\n$7\r\nlimited\r\n$4\r\nrule\r\n$6\r\ntenant\r\n$5\r\nlimit\r\n$6\r\ntenant\r\n$6\r\nshadow\r\n:0\r\n$8\r\ndegraded\r\n:0\r\n") {
		t.Errorf("RESP2: %q", got)
	}
	got := say(t, door, "HELLO 3\r\nSLUICE.CHECK tenant plan=gold")
	_, got, _ = strings.Cut(got, "*0\r\n")
	want := "%10\r\n$7\r\nallowed\r\n#f\r\n$9\r\nremaining\r\n:0\r\n$14\r\nretry_after_ms\r\n:0\r\n$14\r\nreset_after_ms\r\n:0\r\n$7\r\nwait_ms\r\n:0\r\n" +
		"$6\r\nreason\r\n$11\r\nmissing_key\r\n$4\r\nrule\r\n$6\r\ntenant\r\n$5\r\nlimit\r\n$0\r\n\r\n$6\r\nshadow\r\n#f\r\n$8\r\ndegraded\r\n#f\r\n"
	if got != want {
		t.Errorf("RESP3: %q, want %q", got, want)
	}
}

// TestUndecided: errors of the engine, by their texts.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{store.ErrKey, "-ERR what the key of the rule is made of is too long; shorten it, or let the rule hash its key\r\n"},
		{store.ErrOp, "-ERR not supported by the limits of this request: operation not supported by this store, or not for this kind of limit\r\n"},
		{sluice.ErrUnavailable, "-ERR the store cannot be asked; try again later\r\n"},
		{errors.New("odd\nthing"), "-ERR could not be decided: odd?thing\r\n"},
	} {
		d := newDesk(nil)
		if d.undecided(c.err); string(d.out) != c.want {
			t.Errorf("%v: %q, want %q", c.err, d.out, c.want)
		}
	}
}

// TestSwap: rules that are put in force are known at once, and others no more, even if
// they have the same names.
func TestSwap(t *testing.T) {
	door := newDoor(t, nil)
	conn := connect(t, door)
	exchange(t, conn, "SLUICE.CHECK fresh\r\nSLUICE.RESET login ip=192.0.2.1\r\n", "-ERR no rule is called 'fresh'\r\n+OK\r\n")
	limits := []rule.Limit{{Limit: sluice.PerSecond(1)}}
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "fresh", Limits: limits}, {Name: "login", Key: []string{"user"}, Limits: limits}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := door.options.Engine.Swap(set); err != nil {
		t.Fatal(err)
	}
	exchange(t, conn, "SLUICE.RESET login ip=192.0.2.1\r\n", "-ERR rule 'login' does not apply: user is missing, so that the rule does not apply\r\n")
	exchange(t, conn, "SLUICE.RESET fresh\r\nSLUICE.CHECK tenant tenant=7\r\n", "+OK\r\n-ERR no rule is called 'tenant'\r\n")
}
