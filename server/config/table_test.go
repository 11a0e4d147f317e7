package config_test

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// leaves lists the json paths of all fields of a struct.
func leaves(t reflect.Type, prefix string) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("json")
		if f.Type.Kind() == reflect.Struct {
			names = append(names, leaves(f.Type, name+".")...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

func TestTableIsComplete(t *testing.T) {
	known := map[string]bool{}
	for _, name := range leaves(reflect.TypeFor[config.Config](), "") {
		known[name] = true
		if config.Lookup(name) == nil {
			t.Errorf("the field %s is not in the table", name)
		}
	}
	seen := map[string]string{}
	for _, s := range config.Settings() {
		if !known[s.Name] {
			t.Errorf("%s is no field", s.Name)
		}
		if !strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s: the help is no sentence: %q", s.Name, s.Help)
		}
		for _, name := range []string{s.Env(), s.Flag()} {
			if seen[name] != "" {
				t.Errorf("%s and %s are both called %s", s.Name, seen[name], name)
			}
			seen[name] = s.Name
		}
	}
}

// Every setting reads back what it writes, and points to a field of its own.
func TestSetAndText(t *testing.T) {
	changed := config.Defaults()
	for _, s := range config.Settings() {
		text := other(s.Default())
		if err := s.Set(&changed, text); err != nil {
			t.Errorf("%s: Set(%q): %v", s.Name, text, err)
		}
	}
	for _, s := range config.Settings() {
		alone := config.Defaults()
		if err := s.Set(&alone, other(s.Default())); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Text(&changed), s.Text(&alone); got != want || got == s.Default() {
			t.Errorf("%s is %q, want %q", s.Name, got, want)
		}
	}
}

// other returns a value of the same kind.
func other(text string) string {
	switch {
	case text == "true":
		return "false"
	case text == "false":
		return "true"
	case text == "":
		return "x"
	}
	return "1" + text
}

func TestPasswordsAreHidden(t *testing.T) {
	c := config.Config{Redis: "redis://ann:hunter2@h"}
	if got := config.Lookup("redis").Text(&c); strings.Contains(got, "hunter2") || !strings.Contains(got, "ann") {
		t.Errorf("shown as %q", got)
	}
	c.Redis = "redis://ann:hunter2@h:%zz"
	if got := config.Lookup("redis").Text(&c); strings.Contains(got, "hunter2") {
		t.Errorf("shown as %q", got)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]config.Size{"0B": 0, "1B": 1, "64KiB": 64 << 10, "1.5MiB": 3 << 19, "2GB": 2e9, "256MiB": 256 << 20, "1 kB": 1000, "1TiB": 1 << 40} {
		got, err := config.ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v", text, got, err)
		}
		if again, err := config.ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%d is written %q", got, got.String())
		}
	}
	for _, text := range []string{"", "1", "-1B", "MiB", "1e300TiB", "NaNB", "1XB"} {
		if got, err := config.ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"1B", "64KiB", "1.5MiB", "1e3GB", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := config.ParseSize(text)
		if err != nil {
			return
		}
		if again, err := config.ParseSize(s.String()); s < 0 || err != nil || again != s {
			t.Errorf("%q is %d, written %q, read as %d, %v", text, s, s, again, err)
		}
	})
}

func FuzzParseRedis(f *testing.F) {
	for _, text := range []string{"redis://h", "rediss://a:b@h:1/2?addr=x:1&cluster=true", "unix:///run/redis.sock", "redis://[::1]:1?master_set=m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := config.ParseRedis(text); err == nil && len(r.Option.InitAddress) == 0 {
			t.Errorf("%q has no address", text)
		}
	})
}

var rewrite = flag.Bool("rewrite", false, "write the table of settings to docs/SERVER.md")

// The table in the documentation is the one of the code.
func TestDocumentation(t *testing.T) {
	const path, begin, end = "../../docs/SERVER.md", "<!-- settings: made by go test ./config -rewrite -->\n\n", "\n<!-- end of settings -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the settings, between %q and %q", path, begin, end)
	}
	if table == config.Markdown() {
		return
	}
	if !*rewrite {
		t.Errorf("the table in %s is not this one; go test ./config -rewrite puts it there:\n%s", path, config.Markdown())
		return
	}
	if err := os.WriteFile(path, []byte(before+begin+config.Markdown()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
