package resp

import (
	"context"
	"fmt"
	"strconv"
)

// EvalSha runs a script that the server knows.
func (c *Client) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	return c.eval(ctx, "EVALSHA", sha, keys, args)
}

// Eval runs a script.
func (c *Client) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	return c.eval(ctx, "EVAL", script, keys, args)
}

func (c *Client) eval(ctx context.Context, command, script string, keys, args []string) ([]int64, error) {
	words := append(make([]string, 0, 3+len(keys)+len(args)), command, script, strconv.Itoa(len(keys)))
	value, err := c.Do(ctx, append(append(words, keys...), args...)...)
	if err != nil {
		return nil, err
	}
	values, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("resp: %T instead of an array", value)
	}
	numbers := make([]int64, len(values))
	for i, v := range values {
		if numbers[i], ok = v.(int64); !ok {
			return nil, fmt.Errorf("resp: %T instead of an integer", v)
		}
	}
	return numbers, nil
}
