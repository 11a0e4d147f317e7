package server

import (
	"fmt"
	"strings"
)

// rules never refuse, so that all answers are alike.
const rules = `
rules:
  - name: api
    match: {paths: [/api/*]}
    key: [header:X-Api-Key]
    missing: skip
    limits: [{name: burst, limit: 1000000000/s}, {name: daily, limit: 1000000000000/d}]
  - name: login
    match: {methods: [POST], paths: [/login]}
    key: [ip]
    limits: [5/m]
`

// keys is how many different ones the requests have.
const keys = 1000

func item(key int) string {
	return fmt.Sprintf(`{"method":"GET","host":"api.example.com","path":"/api/items/42","ip":"192.0.2.7","user":"ann","headers":{"X-Api-Key":"k-%06d"}}`, key)
}

// checks are requests for one decision each, or for a batch.
func checks(batch int) [][]byte {
	messages := make([][]byte, keys/batch)
	for i := range messages {
		body := item(i)
		if batch > 1 {
			items := make([]string, batch)
			for j := range items {
				items[j] = item(i*batch + j)
			}
			body = `{"requests":[` + strings.Join(items, ",") + `]}`
		}
		messages[i] = fmt.Appendf(nil, "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	return messages
}
