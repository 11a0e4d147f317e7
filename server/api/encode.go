package api

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/sluice-limiter/sluice/engine"
)

// appendDecision writes d as the wire type Decision, byte for byte as encoding/json
// would.
func appendDecision(to []byte, d *engine.Decision) []byte {
	to = append(to, `{"allowed":`...)
	to = strconv.AppendBool(to, d.Allowed)
	to = append(to, `,"reason":"`...)
	to = append(to, d.Reason.String()...)
	to = append(to, `","rule":`...)
	rule := ""
	if d.Rule != nil {
		rule = d.Rule.Name
	}
	to = appendText(to, rule)
	to = append(to, `,"limit":`...)
	to = appendText(to, d.LimitName)
	to = append(to, `,"remaining":`...)
	to = strconv.AppendInt(to, d.Remaining(), 10)
	to = append(to, `,"retry_after_ms":`...)
	to = strconv.AppendInt(to, milliseconds(d.RetryAfter()), 10)
	to = append(to, `,"reset_after_ms":`...)
	to = strconv.AppendInt(to, milliseconds(d.ResetAfter()), 10)
	to = append(to, `,"wait_ms":`...)
	to = strconv.AppendInt(to, milliseconds(d.Wait()), 10)
	to = append(to, `,"shadow":`...)
	to = strconv.AppendBool(to, d.Shadow)
	to = append(to, `,"degraded":`...)
	to = strconv.AppendBool(to, d.Degraded)
	return append(to, '}')
}

// appendError writes a decision of a batch that could not be made.
func appendError(to []byte, err error) []byte {
	text, _ := json.Marshal(Decision{Reason: "error", Error: undecided(err).Detail})
	return append(to, text...)
}

// milliseconds rounds up, so that who comes back after them is not too early.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// appendText writes a text in quotes.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(text)
			return append(to, quoted...)
		}
	}
	to = append(to, '"')
	to = append(to, text...)
	return append(to, '"')
}

// DecisionOf is a decision as the API tells it.
func DecisionOf(d *engine.Decision) Decision {
	w := Decision{
		Allowed:      d.Allowed,
		Reason:       d.Reason.String(),
		Limit:        d.LimitName,
		Remaining:    d.Remaining(),
		RetryAfterMS: milliseconds(d.RetryAfter()),
		ResetAfterMS: milliseconds(d.ResetAfter()),
		WaitMS:       milliseconds(d.Wait()),
		Shadow:       d.Shadow,
		Degraded:     d.Degraded,
	}
	if d.Rule != nil {
		w.Rule = d.Rule.Name
	}
	return w
}
