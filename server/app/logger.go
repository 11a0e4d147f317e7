package app

import (
	"io"
	"log/slog"
	"math"
	"runtime/debug"

	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/metrics"
)

// NewLogger returns the log that the settings ask for.
func NewLogger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the settings were checked
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// Build says which program runs.
func Build() metrics.Build {
	b := metrics.Build{Version: "(devel)", Revision: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.GoVersion = info.GoVersion
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

// warnOfMemory says so if keys may take so much that the collector has no room left to
// keep GOMEMLIMIT, which the runtime heeds by itself.
func warnOfMemory(logger *slog.Logger, keys int64) {
	limit := debug.SetMemoryLimit(-1) // asks, and changes nothing
	if limit != math.MaxInt64 && keys > limit/2 {
		logger.Warn("keys may take more than half of GOMEMLIMIT: lower server.memory, server.instance_memory and server.record.memory, or raise GOMEMLIMIT",
			"memory", config.Size(keys).String(), "GOMEMLIMIT", config.Size(limit).String())
	}
}
