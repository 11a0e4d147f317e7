package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/accesslog"
)

// logFlags say how logs are read.
type logFlags struct {
	format string
	fields []string
	zone   string
	window int
	sort   bool
	strict bool // end with accesslog.ErrLate rather than with late lines, if the files can be read again
}

func (f *logFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "", "of the log, found out if not given: "+strings.Join(accesslog.Names(), ", ")+", or a log_format of nginx with its $variables")
	c.Flags().StringArrayVar(&f.fields, "field", nil, "which column or JSON field means what, as in ip=client.address; "+strings.Join(accesslog.Meanings(), ", ")+", header:NAME, cookie:NAME, attribute:NAME")
	c.Flags().StringVar(&f.zone, "zone", "UTC", "time zone of stamps that name none, such as Europe/Berlin")
	c.Flags().IntVar(&f.window, "window", accesslog.DefaultWindow, "how many lines are held in memory to be sorted by time")
	c.Flags().BoolVar(&f.sort, "sort", false, "sort all of the log through temporary files (in TMPDIR) before anything else, however far out of order it is")
}

// open makes the log of files. Their names are looked at before anything is read.
func (f *logFlags) open(names []string, in io.Reader) (*accesslog.Log, error) {
	o := accesslog.Options{Window: f.window, Sort: f.sort, Zstd: openZstd}
	var err error
	if o.Settings, err = f.settings(); err != nil {
		return nil, usage(err)
	}
	if f.format != "" {
		if o.Format, err = accesslog.Lookup(f.format, o.Settings); err != nil {
			return nil, usage(err)
		}
	}
	if f.window < 1 {
		return nil, usage(fmt.Errorf("--window %d: hold one line at least", f.window))
	}
	sources, err := logSources(names, in)
	if err != nil {
		return nil, usage(err)
	}
	once := func(s accesslog.Source) bool { return !s.Again }
	o.Strict = f.strict && !f.sort && !slices.ContainsFunc(sources, once)
	return accesslog.New(sources, o), nil
}

// again reports whether a log that was read has to be opened once more: it is further out
// of order than the window, and is sorted as a whole then.
func (f *logFlags) again(c *cobra.Command, log *accesslog.Log) bool {
	if !errors.Is(log.Err(), accesslog.ErrLate) {
		return false
	}
	fmt.Fprintf(c.ErrOrStderr(), "the log is further out of order than %s lines: all of it is sorted through temporary files first\n", count(int64(f.window)))
	f.sort = true
	return true
}

func logSources(names []string, in io.Reader) ([]accesslog.Source, error) {
	var sources []accesslog.Source
	for _, name := range names {
		if name == "-" {
			sources = append(sources, accesslog.Stream("standard input", in))
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: name its files, as in %s/access.log*", name, strings.TrimSuffix(name, "/"))
		}
		sources = append(sources, accesslog.File(name))
	}
	return sources, nil
}

func (f *logFlags) settings() (s accesslog.Settings, err error) {
	if s.Zone, err = time.LoadLocation(f.zone); err != nil {
		return s, fmt.Errorf("--zone: %w", err)
	}
	s.Fields = map[string]string{}
	for _, field := range f.fields {
		meaning, name, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return s, fmt.Errorf("--field %q: write it as meaning=name, such as ip=client.address", field)
		}
		s.Fields[meaning] = name
	}
	if _, err = accesslog.Lookup("json", s); err != nil { // any format that has fields tells a meaning that there is not
		return s, fmt.Errorf("--field: %w", err)
	}
	return s, nil
}

// openZstd unpacks zstd in bounded memory.
func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
