package respdoor

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/rueidis"
)

// TestRueidis: decisions, rules and errors through rueidis, by both protocols. It puts
// what many goroutines ask into pipelines by itself.
func TestRueidis(t *testing.T) {
	address := serve(t, "--tokens-env", "SLUICE_TEST_TOKENS")
	for _, two := range []bool{true, false} {
		key := map[bool]string{true: "two", false: "three"}[two]
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{address}, Username: "default", Password: token, ClientName: "test",
			DisableCache: true, AlwaysRESP2: two, DisableRetry: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		throttle := func(ctx context.Context) (int64, error) {
			answer, err := c.Do(ctx, c.B().Arbitrary("CL.THROTTLE").Keys(key).Args("99", "1", "1000").Build()).AsIntSlice()
			if err != nil {
				return 0, err
			}
			return answer[0], nil
		}
		if got := exactly(t, throttle); got != 100 {
			t.Errorf("%d of 400 went ahead, want 100", got)
		}
		ctx := context.Background()
		answer, err := c.Do(ctx, c.B().Arbitrary("SLUICE.CHECK").Args("login", "ip=192.0.2."+map[bool]string{true: "2", false: "3"}[two]).Build()).AsMap()
		remaining := answer["remaining"]
		if left, e := remaining.AsInt64(); err != nil || e != nil || left != 4 {
			t.Errorf("SLUICE.CHECK: %v, %v, %v", answer, err, e)
		}
		if err := c.Do(ctx, c.B().Get().Key("a").Build()).Error(); err == nil || !strings.HasPrefix(err.Error(), "unknown command 'GET'; this is sluice") {
			t.Errorf("GET: %v", err)
		}
	}
}
