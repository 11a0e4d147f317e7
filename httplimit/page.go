package httplimit

import (
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// pagePolicy lets the page use its own style and script and nothing else.
var pagePolicy = "default-src 'none'; style-src " + sourceHash(pageCSS) + "; script-src " + sourceHash(pageJS) +
	"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page writes the reply for a browser: it counts the seconds down and then, if that
// repeats nothing, loads itself again. Without scripts the browser does it alone.
func page(reason sluice.Reason, retry int64, reload bool) []byte {
	wait := strconv.FormatInt(retry, 10)
	text, refresh, again := "Trying again will not help.", "", "no"
	switch {
	case retry > 0 && reload:
		text, again = "This page loads again by itself as soon as it is your turn.", "yes"
		refresh = `<noscript><meta http-equiv="refresh" content="` + wait + `"></noscript>` + "\n"
	case retry > 0:
		text = "Nothing was done. You can send it again in " + wait + " s."
	}
	return []byte(strings.NewReplacer(
		"{title}", titles[reason], "{text}", text, "{refresh}", refresh,
		"{seconds}", wait, "{reload}", again, "{style}", pageCSS, "{script}", pageJS,
	).Replace(pageHTML))
}
