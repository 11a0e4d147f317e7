// Example is a gin server that limits every client address.
package main

import (
	"github.com/gin-gonic/gin"

	"github.com/sluice-limiter/sluice"
	sluicegin "github.com/sluice-limiter/sluice/contrib/gin"
)

func main() {
	r := gin.Default()
	r.Use(sluicegin.ByIP(sluice.PerMinute(100)))
	r.GET("/", func(c *gin.Context) { c.String(200, "hello") })
	_ = r.Run(":8080")
}
