package sluicerueidis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// One budget per user for all processes that share a Redis server.
func ExampleOpen() {
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	store, err := redisstore.New(client)
	if err != nil {
		log.Fatal(err)
	}
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
}

// A program that has a client already shares it. In a Cluster the store has to
// know, so that all keys of one call lie in one slot.
func ExampleNew() {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"10.0.0.1:6379", "10.0.0.2:6379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	store, err := redisstore.New(sluicerueidis.New(client), redisstore.Cluster())
	if err != nil {
		log.Fatal(err)
	}
	users := sluice.NewKeyed(sluice.PerSecond(100), sluice.WithStore(store))
	d, err := users.Allow(context.Background(), "ann")
	fmt.Println(d.Allowed, err)
}
