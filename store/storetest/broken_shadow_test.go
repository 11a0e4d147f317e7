package storetest

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// firmOf tells how many checks of a decision are no shadows.
func firmOf(op store.Op, checks []store.Check) int {
	if op != store.Spend && op != store.Reserve || store.Validate(op, checks) != nil {
		return len(checks)
	}
	if i := slices.IndexFunc(checks, func(c store.Check) bool { return c.Shadow }); i >= 0 {
		return i
	}
	return len(checks)
}

// look decides shadows and charges none: beside a ban.
func (b *broken) look(op store.Op, shadows []store.Check) error {
	if len(shadows) == 0 {
		return nil
	}
	ban, err := algo.Compile(algo.Spec{Kind: algo.Ban})
	if err != nil {
		return err
	}
	all := append([]store.Check{{Key: "ban", Spec: ban, Cost: 1, ID: "ban", Hold: 1}}, shadows...)
	err = b.good(op, all)
	copy(shadows, all[1:])
	return err
}

func shadowsDeny(b *broken, op store.Op, checks []store.Check) error {
	firm := firmOf(op, checks)
	for i := range checks[firm:] {
		checks[firm+i].Shadow = false
	}
	err := b.good(op, checks)
	for i := range checks[firm:] {
		checks[firm+i].Shadow = true
	}
	return err
}

func chargesShadowsAnyway(b *broken, op store.Op, checks []store.Check) error {
	firm := firmOf(op, checks)
	err := b.good(op, checks)
	if err != nil || firm == len(checks) || allAllowed(checks[:firm]) {
		return err
	}
	return b.good(op, checks[firm:])
}

func neverChargesShadows(b *broken, op store.Op, checks []store.Check) error {
	firm := firmOf(op, checks)
	if err := b.good(op, checks[:firm]); err != nil {
		return err
	}
	return b.look(op, checks[firm:])
}

func shadowsDenyShadows(b *broken, op store.Op, checks []store.Check) error {
	firm := firmOf(op, checks)
	if err := b.look(op, checks[firm:]); err != nil {
		return err
	}
	if allAllowed(checks[firm:]) {
		return b.good(op, checks)
	}
	return b.good(op, checks[:firm])
}

func chargesShadowsFirst(b *broken, op store.Op, checks []store.Check) error {
	firm := firmOf(op, checks)
	if err := b.good(op, checks[firm:]); err != nil {
		return err
	}
	return b.good(op, checks[:firm])
}
