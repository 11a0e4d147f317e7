package sluiceclient_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	sluiceclient "github.com/sluice-limiter/sluice/contrib/client"
)

// standIn answers as a server with the rule "login: 5 per minute" would that has seen
// five attempts.
func standIn() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"R7","allowed":false,"reason":"limited","rule":"login","limit":"per-minute","retry_after_ms":12000,"reset_after_ms":60000}`)
	}))
}

func Example() {
	server := standIn() // in real life: sluice serve
	defer server.Close()
	address := server.URL // in real life: http://127.0.0.1:8080

	client, err := sluiceclient.New(address, sluiceclient.Timeout(200*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	d, err := client.Check(context.Background(), sluiceclient.Request{Method: "POST", Path: "/login", IP: "192.0.2.1"})
	switch {
	case err != nil:
		fmt.Println("no decision, so the request passes:", err)
	case !d.Allowed:
		fmt.Println("refused by", d.Rule, "for", d.RetryAfter)
	default:
		fmt.Println("allowed,", d.Remaining, "left")
	}
	// Output: refused by login for 12s
}
