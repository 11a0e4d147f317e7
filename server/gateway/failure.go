package gateway

import (
	"errors"
	"net"
)

// failure is why a server gave no answer. Its kind says what is known of the request.
type failure struct {
	kind  string
	cause error
}

// Kinds of failures, as they are in logs and metrics.
const (
	notSent  = "connect"   // nothing of the request was sent
	noAnswer = "no_answer" // it was sent, wholly or in part, and nothing came back
	tooLate  = "timeout"   // it was sent, and nothing came back in time
	garbled  = "garbled"   // what came back is no answer
	shutOff  = "cut_off"   // the answer has begun, and does not go on
)

func (f *failure) Error() string { return f.kind + ": " + f.cause.Error() }

func (f *failure) Unwrap() error { return f.cause }

// failed says what a failure means for a request of which something may have been sent.
func failed(kind string, cause error) *failure {
	var late net.Error
	if kind == noAnswer && errors.As(cause, &late) && late.Timeout() {
		kind = tooLate
	}
	return &failure{kind, cause}
}

func kindOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.kind
	}
	return noAnswer
}
