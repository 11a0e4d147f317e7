// Package audit remembers what was changed, when and by whom.
package audit

import "time"

// Entry is one change, or an attempt at one.
type Entry struct {
	Time   time.Time `json:"time"`
	Source string    `json:"source"`          // who asked: file, signal, api, start
	Action string    `json:"action"`          // load, reload, rollback, shadow-all, reset, refund
	Lines  []string  `json:"lines,omitempty"` // in words: "rule login: limit 5/m → 10/m"
	Hash   string    `json:"hash,omitempty"`  // of the rules in force after it
	Error  string    `json:"error,omitempty"` // why it did not happen
}
