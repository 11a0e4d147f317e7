package resp

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
)

// said is what SLUICE.CHECK says of a request that is allowed.
var said = []string{
	"allowed", "1", "remaining", "99999999", "retry_after_ms", "0", "reset_after_ms", "1", "wait_ms", "0",
	"reason", "", "rule", "api", "limit", "api", "shadow", "0", "degraded", "0",
}

// serveConstant answers every request as SLUICE.CHECK does, without a look at it. So much
// the network takes, and the client who reads such an answer.
func serveConstant() (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerConstant(c)
		}
	}()
	return l.Addr().String(), func() { _ = l.Close() }, nil
}

// answerConstant answers until the client leaves. Nothing but the head of a request has an
// asterisk.
func answerConstant(c net.Conn) {
	defer c.Close()
	one, in, out := encode(), make([]byte, 8<<10), make([]byte, 0, 16<<10)
	for {
		n, err := c.Read(in)
		if err != nil {
			return
		}
		out = out[:0]
		for range bytes.Count(in[:n], []byte{'*'}) {
			out = append(out, one...)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// encode writes it as the door does, with numbers for values that are some.
func encode() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(said))
	for i, text := range said {
		if i%2 == 1 && text != "" && text[0] <= '9' {
			fmt.Fprintf(&b, ":%s\r\n", text)
		} else {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(text), text)
		}
	}
	return b.String()
}

// keepList puts the same values into a list of the redis-server.
func keepList(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "RPUSH said \"%s\"\r\n", strings.Join(said, `" "`)); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && line != fmt.Sprintf(":%d\r\n", len(said)) {
		err = fmt.Errorf("redis-server says %q to RPUSH", line)
	}
	return err
}
