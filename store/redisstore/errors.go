package redisstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/store"
)

// Errors of the store besides those of the client, which are wrapped.
var (
	// ErrState means that a value in Redis is broken, or is not ours: delete the
	// key, or use a prefix that nobody else uses.
	ErrState = fmt.Errorf("value in Redis is broken or not ours: %w", store.ErrState)
	// ErrVersion means that a newer version of sluice has written the value:
	// decide with that version, or wait until the key has expired.
	ErrVersion = fmt.Errorf("value in Redis was written by a newer version: %w", store.ErrState)
	// ErrReply means that the client returned something else than the script's
	// answer.
	ErrReply = errors.New("reply is not that of our script")
	// ErrTooMany means that a call has more checks than one script call carries.
	ErrTooMany = store.ErrTooMany
	// ErrCluster means that the server belongs to a Redis Cluster and the store was
	// not told so.
	ErrCluster = errors.New("keys of one call lie in several slots: make the store with redisstore.Cluster()")
	// ErrOption means that the store was made with an option that cannot be.
	ErrOption = errors.New("option out of range")
)

// explain says of an error of the client what to do about it, if we know.
func explain(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "CROSSSLOT") {
		return fmt.Errorf("%w: %w", ErrCluster, err)
	}
	return err
}

// faults are the reasons that the script gives.
var faults = [...]error{1: ErrState, 2: ErrVersion, 3: ErrState}

// faultOf is the error of a decision whose value is broken.
func faultOf(flags int64, name func(check int) string) error {
	code, check := flags>>8&0xff, int(flags>>16)-1
	if code < 1 || int(code) >= len(faults) {
		return ErrReply
	}
	err := faults[code]
	if code == 3 {
		err = fmt.Errorf("%w: its type is another", err)
	}
	return fmt.Errorf("key %q: %w", name(check), err)
}
