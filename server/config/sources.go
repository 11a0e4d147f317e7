package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
)

// Section is the part of a rule file that holds the settings.
const Section = "server"

// BuiltIn is the name of the sample rules.
const BuiltIn = "built-in"

// Sample returns the rules that hold if no file is named, with comments.
func Sample() []byte { return []byte(sample) }

//go:embed sample.yaml
var sample string

// Sources are where settings and rules come from.
type Sources struct {
	Path  string                           // a rule file, or a folder of them; empty means the built-in sample
	Env   func(name string) (string, bool) // the environment; nil means that it is empty
	Flags map[string]string                // values of flags that were given, by the name of the setting

	Upstreams     []string // of a gateway, in place of those in the file
	GatewayListen string   // where it listens; empty: as the file says
}

// Loaded is what the sources hold.
type Loaded struct {
	Config     Config
	Rules      *rulefile.Result
	Tokens     []string             // bearer tokens; none means that nobody is asked for one
	Secret     []byte               // by which keys are hashed; nil if there is none
	Conditions *rulefile.Conditions // counts failures of when: expressions
	Gateway    Gateway              // off if it has no upstreams
	Envoy      *envoy.Tree          // descriptors, whose rules are among Rules; nil if there are none
	EnvoyStamp string               // tells the files apart that were read last, also if a rollback has put others in force
}

// Load reads everything. The error is of type rulefile.Problems: each problem names the
// place in a file, or the variable or flag, that is to blame.
func (s Sources) Load() (*Loaded, error) {
	l := &Loaded{Conditions: rulefile.NewConditions()}
	// The file itself says where the secret is, so any will do to read that.
	draft, err := s.rules(options(random(), l.Conditions))
	if err != nil {
		return nil, err
	}
	if err := l.settle(s, draft); err != nil {
		return nil, err
	}
	if l.Secret, err = l.Config.Keys.Secret.secret(s.env); err != nil {
		return nil, rulefile.Problems{s.blame(draft, placeOf("keys.secret", l.Config.Keys.Secret), err.Error(), "this makes one: openssl rand -hex 32")}
	}
	if l.Secret == nil && l.Config.Redis == "" {
		l.Secret = random() // budgets end with the process, and so may their names
	}
	l.Rules, err = s.rules(options(l.Secret, l.Conditions))
	if err != nil {
		return nil, err
	}
	if err := l.checkHolders(s); err != nil {
		return nil, err
	}
	return l, l.addEnvoy(s)
}

// Again reads everything but the secret, which must not change while the server runs:
// keys that are hashed by another one have fresh budgets. serving are the addresses that
// ask for tokens and are in use until a restart, whatever the file says now, while its
// tokens hold at once.
func (s Sources) Again(before *Loaded, serving ...string) (*Loaded, error) {
	read, err := s.rules(options(before.Secret, before.Conditions))
	if err != nil {
		return nil, err
	}
	l := &Loaded{Rules: read, Secret: before.Secret, Conditions: before.Conditions}
	if err := l.settle(s, read); err != nil {
		return nil, err
	}
	for _, address := range serving {
		if len(l.Tokens) == 0 && !Loopback(address) {
			return nil, rulefile.Problems{s.blame(read, placeOf("tokens", l.Config.Tokens), exposed(address),
				"another address needs a restart: keep the tokens until then")}
		}
	}
	if err := l.checkHolders(s); err != nil {
		return nil, err
	}
	return l, l.addEnvoy(s)
}

// settle fills in settings and tokens.
func (l *Loaded) settle(s Sources, read *rulefile.Result) error {
	var problems rulefile.Problems
	if l.Config, problems = s.resolve(read); len(problems) > 0 {
		return problems
	}
	if l.Gateway, problems = s.gateway(read); len(problems) > 0 {
		return problems
	}
	var err error
	if l.Tokens, err = l.Config.Tokens.tokens(s.env); err != nil {
		return rulefile.Problems{s.blame(read, placeOf("tokens", l.Config.Tokens), err.Error(), "")}
	}
	return nil
}

// options says how files are read.
func options(secret []byte, conditions *rulefile.Conditions) []rulefile.Option {
	opts := []rulefile.Option{rulefile.Section(Section, Defaults()), rulefile.Section(GatewaySection, GatewayDefaults()), rulefile.WithConditions(conditions)}
	if secret != nil {
		opts = append(opts, rulefile.Compile(rule.HashKey(secret)))
	}
	return opts
}

func (s Sources) rules(opts []rulefile.Option) (*rulefile.Result, error) {
	if s.Path == "" {
		return rulefile.Parse(BuiltIn, Sample(), opts...)
	}
	read, err := rulefile.Load(s.Path, opts...)
	var problems rulefile.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, rulefile.Problems{unreadable(s.Path, err)}
	}
	for i := range problems {
		if problems[i].Field == "hash" {
			problems[i].Hint = "set keys.secret.file (SLUICE_KEYS_SECRET_FILE, --keys-secret-file)"
		}
	}
	return read, err
}

// unreadable says in few words that rules could not be read at all.
func unreadable(path string, err error) rulefile.Problem {
	p := rulefile.Problem{File: path, Reason: err.Error()}
	if system := (*fs.PathError)(nil); errors.As(err, &system) && system.Path == path {
		p.Reason = system.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.Hint = "name a file or folder of rules, or leave it out to start with sample rules"
	}
	return p
}

// resolve puts the settings of all sources together.
func (s Sources) resolve(read *rulefile.Result) (Config, rulefile.Problems) {
	c := read.Section(Section).(Config)
	var problems rulefile.Problems
	for i := range settings {
		setting := &settings[i]
		text, from := s.given(setting)
		if from == "" {
			continue
		}
		if err := setting.Set(&c, text); err != nil {
			problems = append(problems, rulefile.Problem{File: from, Field: setting.Name, Reason: err.Error()})
		}
	}
	if len(problems) > 0 {
		return c, problems
	}
	for i := range settings {
		setting := &settings[i]
		if reason, hint := setting.fault(&c); reason != "" {
			problems = append(problems, s.blame(read, setting.Name, reason, hint))
		}
	}
	return c, problems
}

// given returns what a flag or else the environment says of a setting, and which it
// was; an empty variable is as good as none.
func (s Sources) given(setting *Setting) (text, from string) {
	if text, ok := s.Flags[setting.Name]; ok {
		return text, "--" + setting.Flag()
	}
	if text, ok := s.env(setting.Env()); ok && text != "" {
		return text, setting.Env()
	}
	return "", ""
}

func (s Sources) env(name string) (string, bool) {
	if s.Env == nil {
		return "", false
	}
	return s.Env(name)
}

// blame puts a problem where the value of a setting came from.
func (s Sources) blame(read *rulefile.Result, name, reason, hint string) rulefile.Problem {
	if _, from := s.given(Lookup(name)); from != "" {
		return rulefile.Problem{File: from, Field: name, Reason: reason, Hint: hint}
	}
	p := read.At(Section, name, reason, hint)
	if p.Line == 0 {
		p.Reason = fmt.Sprintf("%s.%s: %s", Section, name, reason)
	}
	return p
}

// placeOf names the setting that says where a secret is.
func placeOf(name string, s Secret) string {
	if s.File != "" {
		return name + ".file"
	}
	return name + ".env"
}
