package resp

import (
	"bytes"
	"errors"
)

// Limits of a request.
const (
	maxArgs    = 256      // arguments
	maxRequest = 64 << 10 // bytes, all of it
	maxHead    = 32       // bytes of a line that holds a length
)

// What a stream can be so wrong in that the connection has to end. The texts are those
// that Redis has, where it has any.
var (
	errArrayLength = errors.New("invalid multibulk length")
	errBulkLength  = errors.New("invalid bulk length")
	errBulkHead    = errors.New("expected '$'")
	errBulkEnd     = errors.New("expected CRLF after a bulk string")
	errHeadLength  = errors.New("too big mbulk count string")
	errTooLong     = errors.New("request is longer than 64 KiB")
	errStranger    = errors.New("request is longer than 1 KiB, before AUTH")
	errInlineLong  = errors.New("too big inline request")
	errQuotes      = errors.New("unbalanced quotes in request")
)

// parse reads one request from the beginning of data. n is its length. If n is 0 and
// there is no error, the request is incomplete, and there is nothing to see before data
// is at least need bytes long. The arguments lie in data, and their list in args, whose
// memory is used again; a request without any is to be passed over.
//
// Requests are arrays of bulk strings, which cannot be nested, or a line of words.
func parse(data []byte, args [][]byte) (list [][]byte, n, need int, err error) {
	if len(data) == 0 {
		return args[:0], 0, 1, nil
	}
	if data[0] != '*' {
		return parseInline(data, args[:0])
	}
	count, at, err := parseLength(data, 1)
	switch {
	case err != nil:
		return nil, 0, 0, errArrayLength
	case at == 0:
		return args[:0], 0, len(data) + 1, headTooLong(data, 0)
	case count > maxArgs:
		return nil, 0, 0, errArrayLength
	}
	args = args[:0]
	for range count {
		if at >= len(data) {
			return args, 0, at + 1, nil
		}
		if data[at] != '$' {
			return nil, 0, 0, errBulkHead
		}
		size, from, err := parseLength(data, at+1)
		switch {
		case err != nil || size < 0:
			return nil, 0, 0, errBulkLength
		case from == 0:
			return args, 0, len(data) + 1, headTooLong(data, at)
		case from+size+2 > maxRequest:
			return nil, 0, 0, errTooLong
		case from+size+2 > len(data):
			return args, 0, from + size + 2, nil
		case data[from+size] != '\r' || data[from+size+1] != '\n':
			return nil, 0, 0, errBulkEnd
		}
		args = append(args, data[from:from+size])
		at = from + size + 2
	}
	return args, at, 0, nil
}

// parseLength reads a number and the end of its line. next is where the following line
// begins; 0 means that the end has not come yet.
func parseLength(data []byte, at int) (number, next int, err error) {
	negative := at < len(data) && data[at] == '-'
	if negative {
		at++
	}
	from := at
	for ; at < len(data); at++ {
		c := data[at]
		if c < '0' || c > '9' {
			break
		}
		if number = number*10 + int(c-'0'); number > maxRequest {
			return 0, 0, errBulkLength
		}
	}
	switch {
	case at == len(data):
		return 0, 0, nil
	case at == from || data[at] != '\r':
		return 0, 0, errBulkLength
	case at+1 == len(data):
		return 0, 0, nil
	case data[at+1] != '\n':
		return 0, 0, errBulkLength
	case negative:
		number = -number
	}
	return number, at + 2, nil
}

// headTooLong ends a line with a length that never ends.
func headTooLong(data []byte, at int) error {
	if len(data)-at > maxHead {
		return errHeadLength
	}
	return nil
}

// parseInline reads a line of words, as somebody types it into a terminal.
func parseInline(data []byte, args [][]byte) (list [][]byte, n, need int, err error) {
	end := bytes.IndexByte(data, '\n')
	switch {
	case end < 0 && len(data) >= maxRequest, end >= maxRequest:
		return nil, 0, 0, errInlineLong
	case end < 0:
		return args, 0, len(data) + 1, nil
	}
	list, err = splitWords(bytes.TrimSuffix(data[:end], []byte{'\r'}), args)
	return list, end + 1, 0, err
}
