package sluicegin_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/sluice-limiter/sluice"
	sluicegin "github.com/sluice-limiter/sluice/contrib/gin"
	"github.com/sluice-limiter/sluice/httplimit"
)

// TestReadme: the README's piece of code works. Its program is in the folder example.
func TestReadme(t *testing.T) {
	r := gin.New()
	r.Use(sluicegin.ByIP(sluice.PerMinute(100), httplimit.TrustProxies(netip.MustParsePrefix("10.0.0.0/8"))))
	r.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello") })
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}
