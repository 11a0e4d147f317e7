package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// door answers in a language of its own, beside the API.
type door interface {
	// Serve answers on l until Shutdown; then it returns nil or [http.ErrServerClosed].
	Serve(l net.Listener) error
	// Shutdown accepts nothing more and finishes what is under way. If ctx ends before,
	// it cuts off the rest and says so.
	Shutdown(ctx context.Context) error
}

// opened is a door with its address.
type opened struct {
	door
	name     string
	listener net.Listener
}

// addDoor opens the address of a door. The name is that of its section in the settings;
// the setting is its "listen" there.
func (a *App) addDoor(name, address string, d door) error {
	l, err := a.listen(name+".listen", address)
	if err != nil {
		return err
	}
	a.doors = append(a.doors, opened{d, name, l})
	return nil
}

// DoorAddr returns the address of the door of this name, nil if it is not open.
func (a *App) DoorAddr(name string) net.Addr {
	for _, d := range a.doors {
		if d.name == name {
			return d.listener.Addr()
		}
	}
	return nil
}

// guarded returns the addresses at which tokens are asked for.
func (a *App) guarded() []string {
	addresses := []string{a.Addr().String()}
	for _, d := range a.doors {
		if d.name == "resp" || d.name == "grpc" && a.config.GRPC.Tokens() {
			addresses = append(addresses, d.listener.Addr().String())
		}
	}
	return addresses
}

// serveDoors starts to answer at every door.
func (a *App) serveDoors(failed chan<- error) {
	for _, d := range a.doors {
		a.logger.Info("serving", "door", d.name, "address", d.listener.Addr())
		go func() {
			if err := d.Serve(d.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
	}
}

// shutdownDoors closes all doors at the same time: each may need all of the time.
func (a *App) shutdownDoors(ctx context.Context) error {
	errs := make([]error, len(a.doors))
	var all sync.WaitGroup
	for i, d := range a.doors {
		all.Go(func() {
			if err := d.Shutdown(ctx); err != nil {
				a.logger.Warn("requests are cut off", "door", d.name, "error", err)
				errs[i] = ErrCutOff
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
