package sluicegin_test

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-limiter/sluice"
	sluicegin "github.com/sluice-limiter/sluice/contrib/gin"
)

// A hundred requests per minute for every client address, and two logins.
func ExampleByIP() {
	r := gin.New()
	r.Use(sluicegin.ByIP(sluice.PerMinute(100)))
	r.GET("/login", sluicegin.ByIP(sluice.PerMinute(2)), func(c *gin.Context) { c.String(http.StatusOK, "welcome") })

	for range 3 {
		fmt.Println(get(r, "/login", "192.0.2.1:4711").Code)
	}
	// Output:
	// 200
	// 200
	// 429
}

// A budget per user, whoever the handlers before say that is.
func ExampleKeyBy() {
	users := sluice.NewKeyed(sluice.PerMinute(1))
	r := gin.New()
	r.Use(gin.BasicAuth(gin.Accounts{"ann": "secret"}))
	r.Use(sluicegin.Middleware(users, sluicegin.KeyBy(func(c *gin.Context) (string, error) {
		return c.GetString(gin.AuthUserKey), nil
	})))
	r.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello") })

	for range 2 {
		fmt.Println(get(r, "/", "192.0.2.1:4711", "Authorization", "Basic YW5uOnNlY3JldA==").Code)
	}
	// Output:
	// 200
	// 429
}
