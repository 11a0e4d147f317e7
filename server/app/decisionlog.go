package app

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"github.com/sluice-limiter/sluice/engine"
)

// decisionLog writes a share of all decisions to the log.
type decisionLog struct {
	logger *slog.Logger
	share  float64
	keys   keyText
}

// Observe implements engine.Observer.
func (l *decisionLog) Observe(e *engine.Event) {
	if l.share < 1 && rand.Float64() >= l.share {
		return
	}
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	d := &e.Decision
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs, slog.Bool("allowed", d.Allowed), slog.String("method", e.Request.Method), slog.String("path", e.Path))
	if e.Err != nil { // of a caller that has left, too
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	if d.Rule != nil {
		attrs = append(attrs, slog.String("rule", d.Rule.Name), slog.String("limit", d.LimitName))
	}
	if !d.Allowed {
		attrs = append(attrs, slog.String("reason", d.Reason.String()), slog.Duration("retry_after", d.RetryAfter()))
	}
	if out := bound(e); out != nil {
		attrs = append(attrs, slog.Int64("cost", out.Cost))
		if out.Key != "" {
			if key := l.keys.text(out.Key); key != "" {
				attrs = append(attrs, slog.String("key", key))
			}
		}
	}
	if d.Shadow {
		attrs = append(attrs, slog.Bool("shadow", true))
	}
	if d.Degraded {
		attrs = append(attrs, slog.Bool("degraded", true))
	}
	l.logger.LogAttrs(ctx, slog.LevelInfo, "decision", attrs...)
}

// bound returns what the rule said that bound, or else the first.
func bound(e *engine.Event) *engine.Outcome {
	for i := range e.Outcomes {
		if e.Outcomes[i].Rule == e.Decision.Rule {
			return &e.Outcomes[i]
		}
	}
	if len(e.Outcomes) > 0 {
		return &e.Outcomes[0]
	}
	return nil
}
