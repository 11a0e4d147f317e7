package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/redis/rueidis"
)

// Redis is what a URL says.
type Redis struct {
	Option  rueidis.ClientOption
	Cluster bool
}

// redisParameters are what may stand after the question mark. The client knows more,
// which make no sense for a limiter, or could charge twice.
var redisParameters = []string{"addr", "client_name", "cluster", "db", "dial_timeout", "master_set", "protocol", "skip_verify", "write_timeout"}

// ParseRedis reads the URL of a server, of some of a Cluster's or of the Sentinels.
// Errors never show it, since it may hold a password.
func ParseRedis(text string) (Redis, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Redis{}, fmt.Errorf("it is no URL")
	}
	if !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys", "unix"}, u.Scheme) {
		return Redis{}, fmt.Errorf("%q is no scheme of Redis", u.Scheme)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Redis{}, fmt.Errorf("what stands after the question mark cannot be read")
	}
	for name := range query {
		if !slices.Contains(redisParameters, name) {
			return Redis{}, fmt.Errorf("the parameter %q is not known; known are %v", name, redisParameters)
		}
	}
	var r Redis
	if query.Has("cluster") {
		if r.Cluster, err = strconv.ParseBool(query.Get("cluster")); err != nil {
			return Redis{}, fmt.Errorf("cluster has to be true or false, not %q", query.Get("cluster"))
		}
	}
	if r.Option, err = rueidis.ParseURL(text); err != nil {
		return Redis{}, err
	}
	switch o := &r.Option; {
	case r.Cluster && o.Sentinel.MasterSet != "":
		return Redis{}, fmt.Errorf("it is either a Cluster or behind Sentinels, not both")
	case r.Cluster && o.SelectDB != 0:
		return Redis{}, fmt.Errorf("a Cluster has no database %d, only 0", o.SelectDB)
	case !r.Cluster && o.Sentinel.MasterSet == "" && len(o.InitAddress) > 1:
		return Redis{}, fmt.Errorf("several addresses need cluster=true or master_set=NAME")
	case o.Sentinel.MasterSet != "":
		o.Sentinel.Dialer, o.Sentinel.TLSConfig = o.Dialer, o.TLSConfig
	case !r.Cluster:
		o.ForceSingleClient = true
	}
	return r, nil
}
