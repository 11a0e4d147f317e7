package app

import (
	"net"
	"strconv"
)

// notifier tells systemd how the server is, if systemd wants to know: Type=notify or
// notify-reload in the unit.
type notifier struct{ socket string }

func newNotifier(env func(string) (string, bool)) notifier {
	if env == nil {
		return notifier{}
	}
	socket, _ := env("NOTIFY_SOCKET")
	return notifier{socket}
}

func (n notifier) ready()    { n.send("READY=1") }
func (n notifier) stopping() { n.send("STOPPING=1") }

// reloading needs the time of the clock by which systemd orders messages.
func (n notifier) reloading() {
	if n.socket != "" {
		n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic(), 10))
	}
}

// send leaves errors alone: nothing depends on it but what systemd shows.
func (n notifier) send(state string) {
	if n.socket == "" {
		return
	}
	name := n.socket
	if name[0] == '@' {
		name = "\x00" + name[1:] // a name that is no file
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}
