package resp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestParse: what is read of a stream, and how much of it.
func TestParse(t *testing.T) {
	long := strings.Repeat("x", maxRequest)
	for _, c := range []struct {
		in   string
		args []string
		n    int // -1: all
		need int
		err  error
	}{
		{in: "", need: 1},
		{in: "*1\r\n$4\r\nPING\r\n", args: []string{"PING"}, n: -1},
		{in: "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", args: []string{"ECHO", ""}, n: -1},
		{in: "*1\r\n$4\r\nPI\r\n\r\n", args: []string{"PI\r\n"}, n: -1},
		{in: "*1\r\n$4\r\nPING\r\n*1\r\n", args: []string{"PING"}, n: 14},
		{in: "*0\r\n", n: -1},
		{in: "*-1\r\n", n: -1},
		{in: "*", need: 2},
		{in: "*1", need: 3},
		{in: "*1\r", need: 4},
		{in: "*1\r\n", need: 5},
		{in: "*1\r\n$4\r", need: 8},
		{in: "*1\r\n$4\r\nPI", need: 14},
		{in: "*1\r\n$65000\r\nPI", need: 65014},
		{in: "*x\r\n", err: errArrayLength},
		{in: "*\r\n", err: errArrayLength},
		{in: "*-\r\n", err: errArrayLength},
		{in: "*257\r\n", err: errArrayLength},
		{in: "*99999999999999999999\r\n", err: errArrayLength},
		{in: "*1\n", err: errArrayLength},
		{in: "*1\rx", err: errArrayLength},
		{in: "*" + strings.Repeat("0", 40), err: errHeadLength},
		{in: "*1\r\n$" + strings.Repeat("0", 40), err: errHeadLength},
		{in: "*1\r\n:4\r\n", err: errBulkHead},
		{in: "*1\r\n*1\r\n$4\r\nPING\r\n", err: errBulkHead},
		{in: "*1\r\n$-1\r\n", err: errBulkLength},
		{in: "*1\r\n$x\r\n", err: errBulkLength},
		{in: "*1\r\n$65537\r\n", err: errBulkLength},
		{in: "*1\r\n$65530\r\n", err: errTooLong},
		{in: "*2\r\n$40000\r\n" + long[:40000] + "\r\n$40000\r\n", err: errTooLong},
		{in: "*1\r\n$4\r\nPINGx\n", err: errBulkEnd},
		{in: "PING\r\n", args: []string{"PING"}, n: -1},
		{in: "PING\n", args: []string{"PING"}, n: -1},
		{in: "  PING  a\tb \r\n", args: []string{"PING", "a", "b"}, n: -1},
		{in: "\r\n", n: -1},
		{in: "PING", need: 5},
		{in: `ECHO "a b" 'c d' ""` + "\n", args: []string{"ECHO", "a b", "c d", ""}, n: -1},
		{in: `ECHO "\n\r\t\b\a\x41\xZ\\\"" '\'\n'` + "\n", args: []string{"ECHO", "\n\r\t\b\aAxZ\\\"", `'\n`}, n: -1},
		{in: `ECHO a"b c"` + "\n", args: []string{"ECHO", "ab c"}, n: -1},
		{in: `ECHO "a` + "\n", err: errQuotes},
		{in: `ECHO 'a` + "\n", err: errQuotes},
		{in: `ECHO "a"b` + "\n", err: errQuotes},
		{in: `ECHO "a\` + "\n", err: errQuotes},
		{in: long, err: errInlineLong},
		{in: long + "\n", err: errInlineLong},
		{in: strings.Repeat("x ", maxArgs+1) + "\n", err: errArrayLength},
	} {
		name := c.in[:min(len(c.in), 40)]
		args, n, need, err := parse([]byte(c.in), nil)
		if c.n < 0 {
			c.n = len(c.in)
		}
		if !errors.Is(err, c.err) || err == nil && (n != c.n || need != c.need) {
			t.Errorf("%q: n %d, need %d, error %v; want %d, %d, %v", name, n, need, err, c.n, c.need, c.err)
			continue
		}
		if got := texts(args); n > 0 && !slices.Equal(got, c.args) {
			t.Errorf("%q: arguments %q, want %q", name, got, c.args)
		}
	}
}

func texts(args [][]byte) []string {
	var list []string
	for _, a := range args {
		list = append(list, string(a))
	}
	return list
}

// FuzzParse: a stream that is cut anywhere is read as if it were not, and nothing that is
// read lies outside of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"*1\r\n$4\r\nPING\r\n", "*5\r\n$11\r\nCL.THROTTLE\r\n$1\r\nk\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n", "PING\r\n", "*0\r\n*-1\r\n",
		`ECHO "a\x41" 'b'` + "\n", "*1\r\n$-1\r\n", "*2\r\n$4\r\nECHO\r\n$3\r\n", "*1\r\n$65537\r\n", "\x00\n", "*1\r\n$1\r\n*\r\n",
	} {
		f.Add([]byte(seed), uint16(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		whole, n, need, err := parse(bytes.Clone(data), nil)
		switch {
		case err != nil:
			return
		case len(whole) > maxArgs || n > len(data) || n > maxRequest+1:
			t.Fatalf("%d arguments, %d of %d bytes", len(whole), n, len(data))
		case n == 0 && need <= len(data):
			t.Fatalf("it needs %d bytes and has %d", need, len(data))
		}
		part := bytes.Clone(data[:min(int(cut), len(data))])
		some, m, need, err := parse(part, nil)
		switch {
		case err != nil:
			t.Fatalf("the beginning is wrong (%v) and the whole is not", err)
		case m == 0 && n > 0 && need > n:
			t.Fatalf("%d bytes are said to be needed of %d", need, n)
		case m > 0 && (m != n || !slices.Equal(texts(some), texts(whole))):
			t.Fatalf("%q of the beginning, %q of the whole", some, whole)
		}
	})
}
