package sluicegoredis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-limiter/sluice"
	sluicegoredis "github.com/sluice-limiter/sluice/contrib/goredis"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// One budget per user for all processes that share a Redis server.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	scripter, err := sluicegoredis.New(client)
	if err != nil {
		log.Fatal(err)
	}
	store, err := redisstore.New(scripter)
	if err != nil {
		log.Fatal(err)
	}
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
}

// In a Cluster the store has to know, so that all keys of one call lie in one slot.
func ExampleNew_cluster() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:6379", "10.0.0.2:6379"}})
	defer client.Close()
	scripter, err := sluicegoredis.New(client)
	if err != nil {
		log.Fatal(err)
	}
	store, err := redisstore.New(scripter, redisstore.Cluster())
	if err != nil {
		log.Fatal(err)
	}
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
}
