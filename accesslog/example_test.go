package accesslog_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/accesslog"
)

func ExampleLog() {
	text := `{"time":"2026-01-01T00:00:02.5Z","ip":"192.0.2.2","method":"GET","path":"/b"}
{"time":"2026-01-01T00:00:01.5Z","ip":"192.0.2.1","method":"GET","path":"/a"}
no JSON
`
	log := accesslog.New([]accesslog.Source{accesslog.Stream("requests", strings.NewReader(text))}, accesslog.Options{})
	for e := range log.Entries(context.Background()) {
		fmt.Println(e.At().Format("15:04:05.0"), e.IP, e.Method, e.Path)
	}
	lines := log.Lines()
	fmt.Println(lines.Total, "lines,", lines.Parsed, "parsed,", lines.Rejected, "rejected:", lines.Reasons[0].Reason, log.Err())
	// Output:
	// 00:00:01.5 192.0.2.1 GET /a
	// 00:00:02.5 192.0.2.2 GET /b
	// 3 lines, 2 parsed, 1 rejected: is no JSON object <nil>
}
