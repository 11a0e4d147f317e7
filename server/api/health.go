package api

import (
	_ "embed"
	"net/http"
)

// health says that the process answers.
func (h *handler) health(w http.ResponseWriter, _ *http.Request) { answer(w, Health{"ok"}) }

// ready says whether requests can be decided.
func (h *handler) ready(w http.ResponseWriter, _ *http.Request) {
	if err := h.backend.Ready(); err != nil {
		fail(w, problem(http.StatusServiceUnavailable, "not-ready", err.Error(), "wait, and see the server's log"))
		return
	}
	answer(w, Health{"ready"})
}

//go:embed openapi.json
var document []byte

// openapi describes all of this for machines.
func (h *handler) openapi(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, document) }
